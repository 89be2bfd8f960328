/** Organisations take turns. On a Temporal of its own: another one may not know fairness. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { cacheFolder } from '../../../cli/dev/binaries/cache.ts';
import { binarySpec } from '../../../cli/dev/binaries/catalogue.ts';
import { currentPlatform } from '../../../cli/dev/binaries/platform.ts';
import { resolveBinary } from '../../../cli/dev/binaries/resolve.ts';
import { temporalPart } from '../../../cli/dev/parts/temporal.ts';
import { repositoryRoot } from '../../../cli/dev/repository.ts';
import { Supervisor } from '../../../cli/dev/supervisor.ts';
import { freePort } from '../../support/free-port.ts';
import { knowledgeHarness, startWorker } from './harness.ts';

async function ownTemporal(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-fairness-'));
  const { path: binary } = await resolveBinary({
    spec: binarySpec('temporal'),
    env: process.env,
    cache: cacheFolder(process.env),
    platform: currentPlatform(),
    tools: join(repositoryRoot(), 'tools'),
    onProgress: () => undefined,
  });
  const port = await freePort();
  const supervisor = new Supervisor({
    parts: [temporalPart({ binary, databaseFile: join(folder, 'temporal.db'), port })],
    logDir: join(folder, 'logs'),
    runDir: join(folder, 'run'),
  });
  onTestFinished(async () => {
    await supervisor.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await supervisor.start();
  return `127.0.0.1:${port}`;
}

it('lets a document of another organisation in between many of one that came before', async () => {
  const kb = await knowledgeHarness({ worker: false, env: { TEMPORAL_ADDRESS: await ownTemporal(), PARLEY_INGESTION_CONCURRENCY: '1' } });
  const crowd: string[] = [];
  for (let index = 0; index < 40; index += 1)
    crowd.push(await kb.add(`${index}.txt`, `Drawer ${index} holds the seeds of beans.`, { small: false }));
  const other = await kb.another({ org: 'globex' });
  const single = await kb.add('single.txt', 'The lighthouse keeper has the key.', { to: other, small: false });

  await startWorker(kb.env);
  expect(await kb.ended(single, other)).toMatchObject({ status: 'completed' });
  const documents = await Promise.all(crowd.map((id) => kb.store.knowledge.documents.get({ org: 'acme', id })));
  const before = documents.filter((document) => document?.status !== 'processing').length;
  expect(before).toBeLessThan(20);
});
