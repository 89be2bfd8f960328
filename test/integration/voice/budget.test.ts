/** Tests calls by phone and the daily budget of their agent, with what the calls themselves have used. */
import { readFileSync } from 'node:fs';

import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { CallRecord } from '../../../store/index.ts';
import { budgetOf } from '../../../calls/usage/budget.ts';
import { eventually } from '../../support/eventually.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import type { SipGatewayDouble } from '../../support/sip-gateway.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { session } from '../store/support.ts';
import { openPhoneStage, ownNumber as own } from './phone-stage.ts';

const other = '+15550199';
const agentName = 'receptionist';
/** The welcome message alone costs more than this: 14 characters. */
const budget = { daily: '0.000001', currency: 'EUR' };
/** Midnight in this time zone is at 18:15 UTC. */
const timeZone = 'Asia/Kathmandu';
const prices = [{ kind: 'tts', provider: 'openai_compatible', currency: 'EUR', perMillionCharacters: '15' }];

let gateway: SipGatewayDouble;
afterAll(dispose);
const stage = suiteFixture(() => openPhoneStage({ PARLEY_PRICES: JSON.stringify(prices) }));
const provider = suiteFixture(startProviderServer);

beforeAll(async () => {
  ({ gateway } = stage);
  const { revision } = await stage.agent({ spec: { welcomeMessage: 'Harbour Bikes.' } }, provider);
  const served = { org: stage.org, agentName };
  await stage.store.agentReleases.serve({ ...served, revision });
  await stage.store.agentReleases.setBudget({ ...served, budget: { ...budget, timeZone } });
});

const call = () => gateway.comesIn({ from: other, to: own });
const becomes = ({ roomName }: Pick<Awaited<ReturnType<typeof call>>, 'roomName'>, expected: Partial<CallRecord>): Promise<CallRecord> =>
  eventually(async () => {
    const { items } = await stage.store.calls.list({ org: stage.org, filter: {}, direction: 'descending', pageSize: 100 });
    const record = items.find(({ room }) => room === roomName);
    expect(record, stage.role.output().slice(-3000)).toMatchObject(expected);
    return record!;
  });

const today = () => budgetOf({ budget, timeZone }, Date.now())!;
const spent = (since: number): Promise<bigint> =>
  stage.store.calls.usage.spentSince({ org: stage.org, agentName, currency: 'EUR', since: new Date(since) });
/** Moves the calls to a time, as if they had been made then. */
async function movedTo(quarter: number): Promise<void> {
  const database = await session(stage.env['DATABASE_URL']!);
  await database.query(`UPDATE parley.agent_spending SET quarter = $2 WHERE org = $1`, [stage.org, new Date(quarter)]);
}

async function isRefused(): Promise<void> {
  const caller = await call();
  await eventually(() => expect(caller.room.isConnected).toBe(false));
  const record = await becomes(caller, { status: 'error', finishReason: 'invalid_payment' });
  expect(record.startedAt).toBeNull();
  expect(caller.heard).toEqual([]);
}

it('refuses calls once one has cost it, also when the process of that call is killed, until midnight of its time zone', async () => {
  const first = await call();
  await becomes(first, { status: 'ongoing' });
  await first.hears('Harbour Bikes.');
  const cost = 14n * 15n;
  await eventually(async () => expect(await spent(today().since)).toBe(cost));

  const role = stage.role.process.pid!;
  const jobs = readFileSync(`/proc/${role}/task/${role}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  for (const pid of jobs) process.kill(pid, 'SIGKILL');
  await first.leave();
  expect(await spent(today().since)).toBe(cost);
  await isRefused();

  // The calls move to the first quarter of an hour of the day, and to the last one of the day before.
  await movedTo(today().since);
  await isRefused();
  await movedTo(today().since - 15 * 60_000);
  const next = await call();
  await becomes(next, { status: 'ongoing' });
  await next.leave();
  expect(await spent(0)).toBeGreaterThanOrEqual(cost);
});
