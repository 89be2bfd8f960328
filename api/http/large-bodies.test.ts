import fc from 'fast-check';
import fastify from 'fastify';
import { expect, it } from 'vitest';

import { hasMoreValues, registerLargeBodies } from './large-bodies.ts';

/** Returns for each body in which turn of the event loop it was read. */
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

it('counts values, and none within texts, whatever stands in them', () => {
  const parts = fc.constantFrom('"', '\\', '[', '{', ',', 'é', '1', 'x'.repeat(70), '\\'.repeat(81));
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 40 }), (some) => {
      const json = some.join('');
      const outside = json.replaceAll(/"(?:\\[^]|[^"\\])*(?:"|\\?$)/g, '');
      const values = 1 + (outside.match(/[,[{]/g)?.length ?? 0);
      const bytes = new TextEncoder().encode(json);
      expect([hasMoreValues(bytes, values), hasMoreValues(bytes, values - 1)]).toEqual([false, true]);
    }),
    { numRuns: 2_000 },
  );
});
