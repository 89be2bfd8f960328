import fastify from 'fastify';
import { expect, it } from 'vitest';

import { registerLargeBodies } from './large-bodies.ts';

/** Answers in which turn of the event loop each body was read on. */
async function turnsOfReading(bodies: readonly string[]): Promise<readonly number[]> {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  registerLargeBodies(app);
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  app.post('/', async () => turn);
  await app.ready();
  const headers = { 'content-type': 'application/json' };
  const answers = await Promise.all(bodies.map((body) => app.inject({ method: 'POST', url: '/', headers, body })));
  clearImmediate(counting);
  await app.close();
  return answers.map(({ body }) => Number(body));
}

it('lets the event loop go round between large bodies that come at the same moment', async () => {
  const turns = await turnsOfReading(Array.from({ length: 20 }, () => JSON.stringify('x'.repeat(16 * 1024))));
  expect(new Set(turns).size).toBe(20);
});

it('reads small bodies at once', async () => {
  const turns = await turnsOfReading(Array.from({ length: 20 }, () => JSON.stringify('x'.repeat(1024))));
  expect(new Set(turns).size).toBe(1);
});
