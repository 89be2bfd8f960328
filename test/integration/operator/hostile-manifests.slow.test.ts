import { expect, it } from 'vitest';

import { anAgent, aTool, type TestManifest } from '../../support/builders.ts';
import { hostileManifests } from '../../support/hostile-manifests.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startCluster } from './harness.ts';

const AT_ONCE = 4;

const cluster = suiteFixture(startCluster);

it('reconciles resources of one organisation that are as large as they may be, and those of others meanwhile', async () => {
  await cluster.operator();
  const [hostile, quiet] = await Promise.all([cluster.organization('hostile'), cluster.organization('quiet')]);
  const manifests = hostileManifests(hostile, 0);
  let applied = false;
  const applying = applyAll(manifests).finally(() => (applied = true));
  await cluster.apply(anAgent('reception', quiet), aTool('orders', quiet, { agentRefs: [{ name: 'reception' }] }));
  let served = 0;
  do {
    await cluster.apply(anAgent('reception', quiet, { welcomeMessage: `Edit ${served}` }));
    await cluster.ready('Agent', quiet, 'reception');
    served += 1;
  } while (!applied);
  await applying;
  expect(served).toBeGreaterThan(0);
  for (const { kind, metadata } of manifests) {
    await cluster.until(kind, hostile, metadata.name, ({ status, metadata: { generation } }) => status?.observedGeneration === generation);
  }
});

async function applyAll(manifests: readonly TestManifest[]): Promise<void> {
  const waiting = [...manifests];
  const writer = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await cluster.apply(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
}
