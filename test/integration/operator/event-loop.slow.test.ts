/**
 * What one organisation applies takes long to judge and to compile; the others don't notice. The operator runs in a process of its own, and is
 * measured there.
 */
import { setTimeout } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { anAgent, aTool, type TestManifest } from '../../support/builders.ts';
import { parseMegabyteMs } from '../../support/machine-speed.ts';
import { hostileManifests } from '../../support/hostile-manifests.ts';
import { spawnRole } from '../../support/role-process.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startCluster } from './harness.ts';

/** What a resource may add to the longest turn of the event loop, in megabytes of JSON that are parsed meanwhile: some 100 ms. */
const MOST_MEGABYTES = 18;
const ROUNDS = 2;
const AT_ONCE = 4;

const cluster = suiteFixture(startCluster);

it('resources of one organisation that take long to compile hold up no other', async () => {
  const operator = spawnRole('operator', cluster.env());
  const [hostile, quiet] = await Promise.all([cluster.organization('hostile'), cluster.organization('quiet')]);
  await cluster.apply(anAgent('reception', quiet), aTool('orders', quiet, { agentRefs: [{ name: 'reception' }] }));
  await cluster.ready('Agent', quiet, 'reception');
  await operator.longestTurn();
  await setTimeout(1000);
  const idle = await operator.longestTurn();
  const longest: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const manifests = hostileManifests(hostile, round);
    let applied = false;
    const applying = applyAll(manifests).finally(() => (applied = true));
    let served = 0;
    do {
      await cluster.apply(anAgent('reception', quiet, { welcomeMessage: `Round ${round}, edit ${served}` }));
      await cluster.ready('Agent', quiet, 'reception');
      served += 1;
    } while (!applied);
    await applying;
    expect(served).toBeGreaterThan(1);
    for (const { kind, metadata } of manifests) {
      await cluster.until(
        kind,
        hostile,
        metadata.name,
        ({ status, metadata: { generation } }) => status?.observedGeneration === generation,
      );
    }
    longest.push(await operator.longestTurn());
  }
  // What the manifests cost they cost in every round; a turn that was long once was a machine with other work.
  const limitMs = idle + MOST_MEGABYTES * parseMegabyteMs();
  expect(Math.min(...longest), `longest turns ${longest.join(', ')} ms`).toBeLessThanOrEqual(limitMs);
});

async function applyAll(manifests: readonly TestManifest[]): Promise<void> {
  const waiting = [...manifests];
  const writer = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await cluster.apply(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
}
