import { fastify } from 'fastify';
import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { RequestState, startRequest } from './request-state.ts';
import { registerTurnedAway } from './turned-away.ts';

/** Makes a server that answers with the status in the address. */
function server() {
  const clock = new FakeClock();
  const app = fastify();
  app.addHook('onRequest', async (request) => startRequest(request, new RequestState({ traceId: 't', clock })));
  registerTurnedAway(app, { clock });
  app.get<{ Params: { status: string } }>('/:status', async ({ params }, reply) => reply.code(Number(params.status)).send('x'));
  const ask = (status: number) => app.inject(`/${status}`).then(({ statusCode }) => statusCode);
  return { clock, ask };
}

it('answers at once, but for a 401 and a 429', async () => {
  const { clock, ask } = server();
  expect(await Promise.all([200, 402, 403, 404, 422, 503].map(ask))).toEqual([200, 402, 403, 404, 422, 503]);
  const answered: number[] = [];
  const waiting = [401, 429].map(async (status) => answered.push(await ask(status)));
  await clock.advance(249);
  expect(answered).toEqual([]);
  await clock.advance(1);
  await Promise.all(waiting);
  expect(new Set(answered)).toEqual(new Set([401, 429]));
});

it('has no more than 2,000 answers wait', async () => {
  const { clock, ask } = server();
  const waiting = Array.from({ length: 2_000 }, () => ask(401));
  expect(await ask(401)).toBe(401);
  await clock.advance(250);
  await Promise.all(waiting);
});
