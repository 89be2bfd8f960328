import { expect, it } from 'vitest';

import { closeAll } from './open-search.ts';

it('closes each, though one fails, and then says what it failed with', async () => {
  const closed: string[] = [];
  const slow = Promise.withResolvers<void>();
  const closing = closeAll(
    { close: () => Promise.reject(new Error('Temporal is unavailable')) },
    {
      close: async () => {
        await slow.promise;
        closed.push('slow');
      },
    },
    {
      close() {
        throw new Error('of no use either');
      },
    },
    { close: () => void closed.push('last') },
  );
  slow.resolve();
  await expect(closing).rejects.toThrow('Temporal is unavailable');
  expect(closed).toEqual(['last', 'slow']);
});
