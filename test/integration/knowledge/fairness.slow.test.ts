/** Organisations take turns, and the knowledge bases of one. The suite has a Temporal of its own: another one may not know fairness. */
import { expect, it } from 'vitest';

import { ownTemporal } from '../../support/own-temporal.ts';
import { knowledgeHarness, startWorker } from './harness.ts';

it.each([
  ['another organisation', { org: 'globex' }, false],
  ['another base of the organisation', {}, true],
])('lets a document of %s in between many that came before', async (_, other, small) => {
  const temporal = await ownTemporal();
  await temporal.start();
  const kb = await knowledgeHarness({ worker: false, env: { TEMPORAL_ADDRESS: temporal.address, PARLEY_INGESTION_CONCURRENCY: '1' } });
  const crowd: string[] = [];
  for (let index = 0; index < 40; index += 1)
    crowd.push(await kb.add(`${index}.txt`, `Drawer ${index} holds the seeds of beans.`, { small }));
  const base = await kb.another(other);
  const single = await kb.add('single.txt', 'The lighthouse keeper has the key.', { to: base, small });

  await startWorker(kb.env);
  const done = await kb.ended(single, base);
  expect(done).toMatchObject({ status: 'completed' });
  const documents = await Promise.all(crowd.map((id) => kb.store.knowledge.documents.get({ org: 'acme', id })));
  const before = documents.filter((document) => document?.status !== 'processing' && document!.updatedAt < done.updatedAt).length;
  expect(before).toBeLessThan(20);
});
