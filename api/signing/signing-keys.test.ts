import { expect, it } from 'vitest';

import { SigningKeys } from './signing-keys.ts';

const none = (): Promise<never> => Promise.reject(new Error('the database is unavailable'));

it('are of the secrets that were given, the newest first, and different for each purpose', async () => {
  const keys = new SigningKeys({ given: ['new', 'old'], stored: none });
  await keys.load();
  const [newest, ...former] = keys.of('links');
  expect(former).toEqual([new SigningKeys({ given: ['old'], stored: none }).of('links')[0]]);
  expect(keys.of('tokens')[0]).not.toEqual(newest);
});

it('are of the stored secret otherwise, which is asked for until it is there, and then no more', async () => {
  let asked = 0;
  const keys = new SigningKeys({
    given: [],
    stored: () => ((asked += 1) === 1 ? none() : Promise.resolve(new Uint8Array(32).fill(asked))),
  });
  expect(() => keys.of('links')).toThrow(/before they are loaded/);
  await expect(keys.load()).rejects.toThrow(/unavailable/);
  await keys.load();
  await keys.load();
  expect(asked).toBe(2);
  expect(keys.of('links')).toHaveLength(1);
});
