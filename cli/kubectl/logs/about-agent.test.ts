import { describe, expect, it } from 'vitest';

import { AboutAgent, type AboutAgentOptions } from './about-agent.ts';
import { parseLine, type LogLine } from './line.ts';

const uid = '0b6f7c0e-5f0e-4b37-9a3c-0d8a7f7d2a11';

function line(fields: object): LogLine {
  const raw = JSON.stringify({ level: 'info', time: '2026-01-01T00:00:00.000Z', ...fields });
  const parsed = parseLine(raw, { source: 'pod', role: 'voice' });
  if (parsed === undefined) throw new Error(`no line: ${raw}`);
  return parsed;
}

function messages(lines: readonly object[], options: Partial<AboutAgentOptions> = {}): readonly unknown[] {
  const about = new AboutAgent({ namespace: 'acme', name: 'reception', uid, ...options });
  return lines.flatMap((each) => about.take(line(each))).map(({ fields }) => fields['msg']);
}

describe('AboutAgent', () => {
  it.each([
    ['a reconcile', { kind: 'Agent', key: 'acme/reception' }],
    ['its uid, wherever it stands', { delivery: { agentUid: uid } }],
    ['its name in its organisation', { org: 'acme', agentName: 'reception' }],
    ['its name, with no organisation said', { agent: 'reception' }],
    ['an object of its name and kind', { kind: 'Agent', name: 'reception', namespace: 'acme' }],
  ])('takes %s', (_, fields) => {
    expect(messages([{ msg: 'x', ...fields }])).toEqual(['x']);
  });

  it.each([
    ['another kind of its name', { kind: 'Tool', key: 'acme/reception' }],
    ['its namesake elsewhere', { kind: 'Agent', key: 'globex/reception' }],
    ['its namesake in a call elsewhere', { org: 'globex', agent: 'reception' }],
    ['another agent of its organisation', { org: 'acme', agent: 'billing' }],
    ['a name that begins like its own', { kind: 'Agent', key: 'acme/reception-2' }],
    ['what is about no agent', { msg: 'listening' }],
  ])('leaves %s', (_, fields) => {
    expect(messages([{ msg: 'x', ...fields }])).toEqual([]);
  });

  it('takes lines of its calls, also those that came before it was known whose they are', () => {
    const lines = [
      { msg: 'before', callId: 'c1', org: 'acme' },
      { msg: 'of another', callId: 'c2', org: 'acme' },
      { msg: 'whose', callId: 'c1', org: 'acme', agent: 'reception' },
      { msg: 'whose else', callId: 'c2', org: 'acme', agent: 'billing' },
      { msg: 'after', callId: 'c1' },
      { msg: 'in its room', room: 'call-12345678' },
      { msg: 'whose room', callId: 'call_12345678', agent: 'reception' },
    ];
    expect(messages(lines)).toEqual(['before', 'whose', 'after', 'in its room', 'whose room']);
  });

  it('takes one call alone where one is named', () => {
    const lines = [
      { msg: 'one', callId: 'c1' },
      { msg: 'two', callId: 'c2' },
      { msg: 'reconcile', kind: 'Agent', key: 'acme/reception' },
    ];
    expect(messages(lines, { callId: 'c1' })).toEqual(['one']);
  });
});

it('reads lines of libraries, too', () => {
  expect(parseLine('{"level":40,"time":1700000000000,"msg":"x"}', { source: 's', role: 'voice' })).toMatchObject({
    level: 'warn',
    time: 1_700_000_000_000,
  });
});

it.each(['', 'plain text', '{"level":"info"}', '{"time":"2026-01-01T00:00:00Z","level":"loud"}', '{broken'])(
  'is no line of ours: %j',
  (raw) => {
    expect(parseLine(raw, { source: 's', role: 'api' })).toBeUndefined();
  },
);
