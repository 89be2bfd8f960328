/** Tests what the daily budget of an agent refuses, and what it lets through. */
import { describe, expect, it } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { UsageLine } from '../../../store/index.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { aCall, registerCall, someUsage } from '../store/calls-support.ts';
import { session } from '../store/support.ts';
import { realMediaServer, serveAgent } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';

const facade = suiteFixture(async () => startFacade({ calls: { mediaServer: await realMediaServer() } }));
const org = suiteFixture(() => organization(facade));

let agents = 0;
async function anAgent(budget: { readonly daily: string; readonly currency: string } | undefined) {
  const name = `spender-${(agents += 1)}`;
  await serveAgent(facade.store, org.name, name);
  const ofDays = budget && { ...budget, timeZone: 'Asia/Kathmandu' };
  await facade.store.agentReleases.setBudget({ org: org.name, agentName: name, budget: ofDays });
  return name;
}

const call = (agent: string) => org.call('POST', '/v1/calls/create-web-call', { ai_agent_id: agent });
const costs = (micros: bigint, currency = 'EUR') => ({ cost: { micros, currency, priceVersion: 'v1' } });

/** Records that a call has used so much. */
async function spend(id: string, ...lines: readonly Partial<UsageLine>[]): Promise<void> {
  await facade.store.calls.log.add({ org: org.name, id }, { usage: someUsage(...lines) });
}

describe('an agent with a budget', () => {
  it('makes no call once those of the day have cost it, those under way included', async () => {
    const agent = await anAgent({ daily: '0.05', currency: 'EUR' });
    const first = (await call(agent)).body._id;
    await spend(first, costs(49_999n));
    const second = await call(agent);
    expect(second.status).toBe(201);
    // A writer that stores its usage again replaces what there was.
    const usage = someUsage(costs(1n));
    await facade.store.calls.log.add({ org: org.name, id: second.body._id }, { usage });
    await facade.store.calls.log.add({ org: org.name, id: second.body._id }, { usage });
    const { status, body } = await call(agent);
    expect([status, body]).toEqual([
      402,
      {
        error: 'budget_exceeded',
        message: expect.stringMatching(
          /^the calls of the agent have cost its daily budget of 0\.05 EUR: .* after 20\d\d-\d\d-\d\dT18:15:00\.000Z$/,
        ),
      },
    ]);
    expect((await org.call('GET', `/v1/calls/${first}`)).body.call_status).toBe('registered');
    expect((await org.call('GET', `/v1/calls?ai_agent_ids=${agent}`)).body.total_count).toBe(2);
    // Another agent has a budget of its own.
    expect((await call(await anAgent({ daily: '0.05', currency: 'EUR' }))).status).toBe(201);
  });

  it('counts neither other days, nor what has no price or another currency, nor calls of tests', async () => {
    const agent = await anAgent({ daily: '0.01', currency: 'EUR' });
    const yesterday = (await call(agent)).body._id;
    await (
      await session(facade.database.url)
    ).query(`UPDATE parley.calls SET created_at = now() - interval '1 day' WHERE id = $1`, [yesterday]);
    await spend(yesterday, costs(1_000_000n));
    await spend((await call(agent)).body._id, { cost: null }, { kind: 'tts', ...costs(1_000_000n, 'USD') });
    const test = await registerCall(facade.store, org.name, { agentName: agent, test: { runId: 'r', testName: 't', tools: [] } });
    await spend(test.id, costs(1_000_000n));
    expect((await call(agent)).status).toBe(201);
  });

  it('has spent what a deleted call has cost', async () => {
    const agent = await anAgent({ daily: '0.01', currency: 'EUR' });
    const id = (await call(agent)).body._id;
    await spend(id, costs(10_000n));
    await org.call('POST', `/v1/calls/${id}/end`);
    expect((await org.call('DELETE', `/v1/calls/${id}`)).status).toBe(204);
    expect((await call(agent)).status).toBe(402);
  });

  it('and a call that is known already stays that call', async () => {
    const phone = { callType: 'phone_call', direction: 'inbound', sipCallId: 'sip-1', toNumber: '+15550100', agentName: 'known' } as const;
    const budget = { micros: 1n, currency: 'EUR', since: new Date(Date.now() - 3_600_000) };
    const first = await registerCall(facade.store, org.name, { ...phone, budget });
    await spend(first.id, costs(1n));
    const again = await facade.store.calls.calls.register(aCall(org.name, { ...phone, budget }));
    expect(again).toMatchObject({ outcome: 'registered', call: { id: first.id } });
    const other = aCall(org.name, { ...phone, sipCallId: 'sip-2', budget });
    expect(await facade.store.calls.calls.register(other)).toEqual({ outcome: 'budget_exceeded' });
    const lifecycle = new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });
    expect(await lifecycle.refuse(other, 'invalid_payment')).toMatchObject({ status: 'error', finishReason: 'invalid_payment' });
  });

  it('forgets what was spent on former days', async () => {
    const { usage } = facade.store.calls;
    await (
      await session(facade.database.url)
    ).query(
      `INSERT INTO parley.agent_spending (org, agent_name, quarter, currency, micros) VALUES ($1, 'old', date_bin('15 minutes', now() - interval '4 days', '2000-01-01Z'), 'EUR', 1)`,
      [org.name],
    );
    const before = { org: org.name, agentName: 'old', currency: 'EUR', since: new Date(0) };
    expect(await usage.spentSince(before)).toBe(1n);
    expect(await usage.pruneSpending({ org: org.name, limit: 10 })).toBe(1);
    expect(await usage.spentSince(before)).toBe(0n);
  });
});
