import * as fc from 'fast-check';
import fastify from 'fastify';
import { expect, it } from 'vitest';

import { countTurns } from '../../test/support/count-turns.ts';
import { jsonParts, registerLargeAnswers } from './large-answers.ts';

it('writes what JSON.stringify writes', async () => {
  const value = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.oneof(fc.jsonValue(), fc.constant(undefined))));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), value), async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of jsonParts(answer)) parts.push(part);
      expect(Buffer.concat(parts).toString()).toBe(JSON.stringify(answer));
    }),
  );
});

it('lets others have their turn between two items of a list', async () => {
  const app = fastify();
  registerLargeAnswers(app);
  const data = Array.from({ length: 100 }, () => 'ä');
  app.get('/', async () => ({ data, next_page_token: null }));
  await app.ready();
  let answer = await app.inject('/');
  expect(await countTurns(async () => (answer = await app.inject('/')))).toBeGreaterThanOrEqual(100);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'content-length': '533' });
  expect(answer.body).toBe(JSON.stringify({ data, next_page_token: null }));
  await app.close();
});

it('sends what is too long to be kept as it is written', async () => {
  const app = fastify();
  registerLargeAnswers(app);
  const data = Array.from({ length: 5 }, (_, index) => 'x'.repeat(400_000 + index));
  app.get('/', async () => ({ data }));
  const answer = await app.inject('/');
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'transfer-encoding': 'chunked' });
  expect(answer.json()).toEqual({ data });
  await app.close();
});
