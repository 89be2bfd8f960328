import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import { readBytes } from './read-bytes.ts';

const parts = (): Readable => Readable.from([Buffer.from('ab'), Buffer.from('cd')]);

it.each([
  [4, 'abcd'],
  [3, undefined],
])('with room for %i bytes reads %s', async (limit, text) => {
  expect((await readBytes(parts(), limit))?.toString()).toBe(text);
});

it('reads nothing of an empty body', async () => {
  expect(await readBytes([], 0)).toEqual(Buffer.alloc(0));
});

it('stops reading a body that is too long', async () => {
  const body = parts();
  await readBytes(body, 1);
  expect(body.destroyed).toBe(true);
});
