/** How exactly a canary splits calls, and how soon an abort and a rollback reach new ones while 100 calls a second are created. */
import { beforeAll, expect, it } from 'vitest';

import { systemClock } from '../../../platform/clock.ts';
import { newCallId, type Store } from '../../../store/index.ts';
import { CallLifecycle } from '../../../voice/calls/lifecycle.ts';
import { roomOf } from '../../../voice/calls/names.ts';
import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, startCluster } from '../operator/harness.ts';

const CALLS = 10_000;
const PERCENT = 5;
const CREATED_PER_SECOND = 100;
const ROUNDS = 12;

const cluster = suiteFixture(startCluster);
let store: Store;
let lifecycle: CallLifecycle;
let org: string;

beforeAll(async () => {
  await cluster.operator();
  store = cluster.store;
  lifecycle = new CallLifecycle({ calls: store.calls.calls, clock: systemClock });
  org = await cluster.organization('reach');
  await store.organizations.create({ name: org });
  await store.organizations.limitLiveCalls(org, 100_000);
});

const apply = (prompt: string, percent: number, abortOn: object = {}) =>
  cluster.apply(
    anAgent('desk', org, {
      llm: { provider: 'openai', model: 'm', systemPrompt: prompt },
      release: { canary: { percent, for: '24h', minCalls: 5, abortOn } },
    }),
  );
const running = (prompt: string) =>
  cluster.until('Agent', org, 'desk', (agent) => {
    const { desiredRevision, canary } = (agent.status ?? {}) as { desiredRevision?: string; canary?: { revision: string } };
    return (
      condition(agent, 'Progressing')?.reason === 'CanaryRunning' &&
      canary?.revision === desiredRevision &&
      agent.spec?.['llm'] !== undefined &&
      JSON.stringify(agent.spec['llm']).includes(prompt) &&
      agent.status?.observedGeneration === agent.metadata.generation
    );
  });

interface Made {
  readonly id: string;
  readonly canary: boolean;
  readonly askedAt: number;
}

/** As every way of creating a call does it: ask what serves, register. */
async function create(): Promise<Made> {
  const id = newCallId();
  const askedAt = performance.now();
  const serving = await store.agentRevisions.servingByName({ org, agentName: 'desk', callId: id });
  if (serving === undefined) throw new Error('the agent does not serve');
  const registration = await lifecycle.register({
    org,
    id,
    callType: 'web_call',
    agentName: serving.agentName,
    agentDisplayName: 'Desk',
    agentUid: serving.agentUid,
    revision: serving.revision,
    canary: serving.canary,
    maxDurationMs: 60_000,
    room: roomOf(id),
  });
  if (registration.outcome !== 'registered') throw new Error('the limit of calls is reached');
  return { id, canary: registration.call.canary, askedAt };
}

it(`splits ${CALLS} created calls within a point`, async () => {
  await apply('Be kind.', PERCENT);
  await cluster.ready('Agent', org, 'desk');
  await apply('Be brief.', PERCENT);
  await running('Be brief.');
  let left = CALLS;
  let tried = 0;
  const lanes = Array.from({ length: 8 }, async () => {
    while (left-- > 0) {
      const { id, canary } = await create();
      if (canary) tried += 1;
      await lifecycle.end({ org, id, reason: 'user_ended_call' });
    }
  });
  await Promise.all(lanes);
  console.log(`${(100 * tried) / CALLS} % of ${CALLS} calls for a canary of ${PERCENT} %`);
  expect(Math.abs((100 * tried) / CALLS - PERCENT)).toBeLessThan(1);
}, 600_000);

it(`has an abort and a rollback reach new calls within two seconds, at ${CREATED_PER_SECOND} calls a second`, async () => {
  const made: Made[] = [];
  const pending = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const timer = setInterval(() => {
    const creation = create().then(
      (call) => void made.push(call),
      (error: unknown) => void failures.push(error),
    );
    pending.add(creation);
    void creation.finally(() => pending.delete(creation));
  }, 1000 / CREATED_PER_SECOND);
  const reached: Record<'abort' | 'rollback', number[]> = { abort: [], rollback: [] };
  const began = performance.now();
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const how = round % 2 === 0 ? 'abort' : 'rollback';
      await apply(`Round ${round}.`, 50, { errorRate: 50 });
      await running(`Round ${round}.`);
      const from = made.length;
      await eventually(() => expect(made.slice(from).filter(({ canary }) => canary).length).toBeGreaterThan(10), 20);
      if (how === 'rollback') await store.agentReleases.rollback({ org, agentName: 'desk' });
      else
        for (const { id } of made
          .slice(from)
          .filter(({ canary }) => canary)
          .slice(0, 5))
          await lifecycle.end({ org, id, reason: 'unknown_error' });
      const at = performance.now();
      const reason = how === 'abort' ? 'CanaryAborted' : 'RolledBack';
      await cluster.until('Agent', org, 'desk', (agent) => condition(agent, 'Degraded')?.reason === reason);
      await Promise.all(pending);
      const late = made.filter(({ canary, askedAt }) => canary && askedAt > at).map(({ askedAt }) => askedAt - at);
      reached[how].push(Math.max(0, ...late));
    }
  } finally {
    clearInterval(timer);
    await Promise.all(pending);
  }
  const perSecond = (1000 * made.length) / (performance.now() - began);
  const shown = (times: readonly number[]): string => times.map((ms) => `${Math.round(ms)} ms`).join(', ');
  console.log(`${Math.round(perSecond)} calls a second; abort: ${shown(reached.abort)}; rollback: ${shown(reached.rollback)}`);
  expect(failures).toEqual([]);
  expect(Math.max(...reached.abort)).toBeLessThan(2_000);
  expect(Math.max(...reached.rollback)).toBe(0);
}, 600_000);
