import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import type { ReleaseState, Store } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { PostgresOutage } from '../runtime/postgres-outage.ts';
import { ReleaseMetrics } from './release-metrics.ts';
import { ServingRevisionCache } from './serving-revision-cache.ts';

const desk = { org: 'acme', agentName: 'desk' };
const serves = (revision: string): ReleaseState => ({
  version: 1,
  revision,
  configHash: null,
  activeSince: new Date(0),
  canary: null,
  rolledBack: [],
  retiredAt: null,
  promoted: null,
});

/** Postgres answers when the test says so. */
function cacheOf() {
  const answers: ((state: ReleaseState) => void)[] = [];
  const answer = () => new Promise<ReleaseState>((resolve) => void answers.push(resolve));
  const clock = new FakeClock();
  const logger = createLogger({ role: 'operator', level: 'silent' });
  const store = {
    health: () => Promise.resolve(),
    agentReleases: { state: answer, setBudget: answer, serve: answer },
    releaseFigures: {},
  } as unknown as Pick<Store, 'agentRevisions' | 'agentReleases' | 'health' | 'releaseFigures' | 'testRuns'>;
  const metrics = new ReleaseMetrics({ registry: new Registry(), figures: store.releaseFigures, clock, logger });
  const cache = new ServingRevisionCache({ store, outage: new PostgresOutage({ store, clock, logger }), clock, metrics });
  const revisionOf = async () => {
    const view = await cache.view(desk, { tested: false });
    return view.state === 'known' ? view.release?.state.revision : undefined;
  };
  return { cache, revisionOf, answer: (revision: string) => answers.shift()!(serves(revision)), asked: () => answers.length };
}

it('reads once', async () => {
  const { revisionOf, answer } = cacheOf();
  const first = revisionOf();
  answer('a');
  expect([await first, await revisionOf()]).toEqual(['a', 'a']);
});

it.each([
  ['a read', (cache: ServingRevisionCache) => cache.view(desk, { tested: false })],
  ['a write of the budget', (cache: ServingRevisionCache) => cache.setBudget(desk, undefined)],
])('keeps nothing of %s during which a person changed what serves', async (_, act) => {
  for (const notify of [(cache: ServingRevisionCache) => cache.forget(desk), (cache: ServingRevisionCache) => cache.clear()]) {
    const { cache, revisionOf, answer } = cacheOf();
    const former = act(cache);
    notify(cache);
    answer('former');
    await former;
    const now = revisionOf();
    answer('promoted');
    expect(await now).toBe('promoted');
  }
});

it('keeps nothing of a release during which a person changed what serves', async () => {
  const { cache, revisionOf, answer, asked } = cacheOf();
  const first = revisionOf();
  answer('former');
  await first;
  const release = cache.release(desk, { type: 'serve', revision: 'asked-for', configHash: null });
  expect(asked()).toBe(1);
  cache.forget(desk);
  answer('asked-for');
  await release;
  const now = revisionOf();
  answer('promoted');
  expect(await now).toBe('promoted');
});
