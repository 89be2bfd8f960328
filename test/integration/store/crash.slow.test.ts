import { expect, it } from 'vitest';

import { migrate, StoreError, type Store } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { ownPostgres } from './own-postgres.ts';
import { revisionOf, storeAt } from './support.ts';

const server = suiteFixture(ownPostgres);

const KILLS = 4;
const AGENTS = 8;

/** Records the acknowledged writes of one agent's writer, and its last unacknowledged one. */
interface Journal {
  readonly agentName: string;
  readonly stored: string[];
  acknowledged: number;
  attempted: number;
  failures: number;
}

async function write(store: Store, journal: Journal, done: () => boolean): Promise<void> {
  for (let version = 0; !done(); version += 1) {
    const { revision, config } = revisionOf({ agent: journal.agentName, version });
    for (let stored = false; !stored;) {
      try {
        await store.agentRevisions.put({ org: 'acme', agentName: journal.agentName, revision, config });
        journal.stored.push(revision);
        journal.attempted = version;
        await store.agentReleases.serve({ org: 'acme', agentName: journal.agentName, revision });
        journal.acknowledged = version;
        stored = true;
      } catch (error) {
        // Whatever a crash does, the caller hears that the same call may succeed later.
        if (!(error instanceof StoreError) || !error.retryable) throw error;
        journal.failures += 1;
        await eventually(() => store.health());
      }
    }
  }
}

it(`loses nothing that it acknowledged when Postgres is killed ${KILLS} times under load, and goes on by itself`, async () => {
  await migrate({ databaseUrl: server.url });
  const store = storeAt(server.url, { retryForMs: 100 });
  const { apiKey } = await store.organizations
    .create({ name: 'acme' })
    .then(() => store.apiKeys.create({ org: 'acme', name: 'n', permissions: ['*'], expirationDays: 1 }));
  await store.apiKeys.authenticate(apiKey);

  const journals = Array.from({ length: AGENTS }, (_, index): Journal => ({
    agentName: `agent-${index}`,
    stored: [],
    acknowledged: -1,
    attempted: -1,
    failures: 0,
  }));
  let done = false;
  const writers = Promise.all(journals.map((journal) => write(store, journal, () => done)));
  const everybodyMovesOn = async (): Promise<void> => {
    const before = journals.map(({ acknowledged }) => acknowledged);
    await eventually(() => {
      for (const [index, journal] of journals.entries()) expect(journal.acknowledged).toBeGreaterThan((before[index] ?? 0) + 3);
    });
  };

  for (let kill = 0; kill < KILLS; kill += 1) {
    await Promise.race([everybodyMovesOn(), writers]);
    await server.kill();
  }
  await Promise.race([everybodyMovesOn(), writers]);
  done = true;
  await writers;

  expect(
    journals.reduce((sum, { failures }) => sum + failures, 0),
    'the kills hit calls in flight',
  ).toBeGreaterThan(0);
  for (const journal of journals) {
    for (const revision of journal.stored) {
      expect(await store.agentRevisions.get({ org: 'acme', agentName: journal.agentName, revision })).toBeDefined();
    }
    const serving = await store.agentRevisions.servingByName({ org: 'acme', agentName: journal.agentName });
    expect(serving?.config).toEqual({ agent: journal.agentName, version: journal.acknowledged });
    expect(journal.attempted).toBe(journal.acknowledged);
  }
  await store.health();
  expect(await store.apiKeys.authenticate(apiKey)).toMatchObject({ outcome: 'ok' });
});
