import { describe, expect, it } from 'vitest';

import { agentTestKind } from '../../crds/agent-test.ts';
import type { Agent, AgentTest } from '../../crds/index.ts';
import type { AgentResult } from '../../store/index.ts';
import { scheduleOf } from './schedule.ts';

const at = (time: string): number => Date.parse(`2026-03-10T${time}Z`);

function daily(schedule: string | undefined = '0 6 * * *', createdAt = '2026-03-01T12:00:00Z', timeZone?: string): AgentTest {
  return {
    apiVersion: 'parley.dev/v1beta1',
    kind: 'AgentTest',
    metadata: { name: 'hours', namespace: 'acme', uid: 'uid-hours', creationTimestamp: createdAt },
    spec: agentTestKind.spec.parse({
      agentRefs: [{ name: 'receptionist' }],
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Hello' }],
      schedule,
      timeZone,
    }),
  };
}

const agent = (name: string, servingRevision?: string): Agent =>
  ({ metadata: { name, namespace: 'acme', uid: `uid-${name}` }, spec: {}, status: { servingRevision } }) as unknown as Agent;

const result = (createdAt: number, verdict: AgentResult['verdict'] = 'passed'): AgentResult =>
  ({ agentName: 'receptionist', createdAt: new Date(createdAt), verdict }) as unknown as AgentResult;

const serving = agent('receptionist', 'r1');
const dueOf = (results: readonly AgentResult[], now: number, test = daily()): readonly string[] =>
  scheduleOf(test, [serving], results, now).due.map(({ revision }) => revision);

describe('a schedule', () => {
  it('is due from its time on, once', () => {
    expect(dueOf([result(at('06:00:00') - 86_400_000)], at('05:59:59'))).toEqual([]);
    expect(dueOf([result(at('06:00:00') - 86_400_000)], at('06:00:00'))).toEqual(['r1']);
    expect(dueOf([result(at('06:00:00'))], at('06:00:01'))).toEqual([]);
    expect(dueOf([result(at('06:00:00'))], at('23:59:59'))).toEqual([]);
  });

  it('makes up for what passed while no operator was running, once', () => {
    const before = result(at('06:00:00') - 7 * 86_400_000);
    expect(dueOf([before], at('11:00:00'))).toEqual(['r1']);
    expect(dueOf([result(at('11:00:00'))], at('11:00:01'))).toEqual([]);
  });

  it('begins with the test', () => {
    expect(dueOf([], at('05:00:00'), daily(undefined, '2026-03-09T06:00:01Z'))).toEqual([]);
    expect(dueOf([], at('06:00:00'), daily(undefined, '2026-03-09T06:00:01Z'))).toEqual(['r1']);
  });

  it('has one run at a time', () => {
    expect(dueOf([result(at('06:00:00') - 86_400_000, null)], at('06:00:00'))).toEqual([]);
  });

  it('tests what the agents serve', () => {
    const agents = [serving, agent('new'), agent('sales', 'r2')];
    expect(scheduleOf(daily(), agents, [], at('07:00:00')).due).toEqual([
      { type: 'requestRun', agentName: 'receptionist', revision: 'r1' },
      { type: 'requestRun', agentName: 'sales', revision: 'r2' },
    ]);
  });

  it('is due by the clocks of its time zone', () => {
    const inBerlin = daily(undefined, undefined, 'Europe/Berlin');
    const yesterday = [result(at('05:00:00') - 86_400_000)];
    expect(dueOf(yesterday, at('04:59:59'), inBerlin)).toEqual([]);
    expect(dueOf(yesterday, at('05:00:00'), inBerlin)).toEqual(['r1']);
    expect(scheduleOf(inBerlin, [], [], at('04:58:00')).nextInMs).toBe(120_000);
  });

  it('says when it is due next, in UTC, and none without one', () => {
    expect(scheduleOf(daily(), [], [], at('05:58:00')).nextInMs).toBe(120_000);
    expect(scheduleOf(daily('0 6 29 2 *'), [], [], at('05:58:00')).nextInMs).toBe(86_400_000);
    const { schedule: _none, ...spec } = daily().spec;
    expect(scheduleOf({ ...daily(), spec }, [serving], [], at('07:00:00'))).toEqual({ due: [] });
  });
});
