/**
 * What REST accepts is served, or its `state` says why not: random writes of every kind against a facade and an operator on a real API server and
 * Postgres, with deletions by force and edits by kubectl in between. PARLEY_TEST_WRITES says how many.
 */
import { randomInt } from 'node:crypto';

import { beforeAll, expect, it } from 'vitest';

import { startFacade } from '../api/facade.ts';
import { mulberry } from '../../../platform/mulberry.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startCluster } from '../operator/harness.ts';
import { ModelOrganization, seen } from './organization.ts';

const writes = Number(process.env['PARLEY_TEST_WRITES'] ?? 300);
const organizations = 6;
/** Lists are checked after so many writes of an organisation. */
const listsEvery = 20;
const seed = Number(process.env['PARLEY_TEST_SEED'] ?? randomInt(2 ** 31));

const cluster = suiteFixture(startCluster);
const facade = suiteFixture(() => startFacade({ database: { url: cluster.databaseUrl }, kubeconfig: cluster.addresses.kubeconfigs.api }));
beforeAll(async () => {
  await cluster.operator();
});

async function organization(index: number): Promise<ModelOrganization> {
  const name = await cluster.organization('served');
  await facade.store.organizations.create({ name });
  const { apiKey: key } = await facade.store.apiKeys.create({ org: name, name: 'model', permissions: ['*'], expirationDays: 1 });
  return new ModelOrganization({ cluster, facade, name, key, index, random: mulberry(seed + index) });
}

it(
  `is so after each of ${writes} random writes (seed ${seed})`,
  async () => {
    await Promise.all(
      Array.from({ length: organizations }, async (_, index) => {
        const model = await organization(index);
        for (let n = 1; n <= writes / organizations; n += 1) {
          await model.step();
          if (n % listsEvery === 0) await model.checkLists();
        }
        await model.checkEverything();
      }),
    );
    expect(seen.get('served as shown')).toBeGreaterThan(writes / 4);
    // With fewer writes, one kind of refusal is missing by chance now and then.
    if (writes >= 1000) expect([...seen.keys()]).toEqual(expect.arrayContaining(['POST 422', 'PUT 422', 'DELETE 409']));
    // oxlint-disable-next-line no-console
    if (process.env['PARLEY_TEST_WRITES'] !== undefined)
      console.log(Object.fromEntries([...seen].toSorted(([a], [b]) => (a < b ? -1 : 1))));
  },
  Math.max(240_000, writes * 500),
);
