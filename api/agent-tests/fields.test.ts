import { describe, expect, it } from 'vitest';

import { agentTestKind, type AgentTest, type AgentTestSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { fieldsWithoutCase } from '../../test/support/field-cases.ts';
import { masked, SecretWriter } from '../codec/secrets.ts';
import { restLoc } from '../partial/field-names.ts';
import { validate } from '../validation/validate.ts';
import type { ValidationIssue } from '../validation/issue.ts';
import {
  agentTestCreate,
  agentTestFieldNames,
  agentTestFromRest,
  agentTestToRest,
  agentTestUpdate,
  type AgentTestUpdate,
} from './fields.ts';

const secret = { name: 'agenttest-t', key: 'judge-api-key' };

/** `kubectl apply` may have stored this spec. */
const spec = agentTestKind.spec.parse({
  agentRefs: [{ name: 'receptionist' }, { name: 'night' }],
  required: true,
  mode: 'Audio',
  dynamicData: { customer: 'Ada', orders: 2 },
  tools: [
    {
      name: 'look_up',
      type: 'Returns',
      when: { id: '42', deep: { a: [1] } },
      returns: { state: 'shipped', notContains: 1 },
      delay: '500ms',
    },
    {
      name: 'look_up',
      type: 'Sequence',
      sequence: [
        { type: 'Error', error: 'busy' },
        { type: 'Returns', returns: [] },
      ],
    },
    { name: 'find', type: 'Passthrough' },
  ],
  type: 'Conversation',
  conversation: [
    {
      type: 'User',
      user: 'Hours?',
      expect: [
        { type: 'Answer', answer: { contains: ['nine'], notContains: ['ten'], matches: '^We', maxWords: 40, language: 'en' } },
        { type: 'Tool', tool: { name: 'search', times: 1, arguments: { query: { contains: 'hours' } } } },
        { type: 'Tool', tool: { name: 'cancel', unknown: true } },
        { type: 'Judge', judge: 'is polite' },
        { type: 'Within', within: '2s' },
        { type: 'Handoff', handoff: 'billing' },
      ],
    },
    { type: 'Keys', keys: '42#', expect: [{ type: 'Ends', ends: 'agent_ended_call' }] },
  ],
  atEnd: [
    { type: 'NeverCalled', neverCalled: 'transfer_call' },
    { type: 'Handoff', handoff: 'dentist' },
    { type: 'Analysis', analysis: { name: 'topic', equals: false } },
    { type: 'Called', called: { name: 'search' } },
  ],
  judge: { provider: 'openai_compatible', model: 'm', baseURL: 'https://models.example.com/v1', apiKeySecretRef: secret },
  repeat: 3,
  passAtLeast: 2,
  schedule: '0 6 * * MON',
  timeZone: 'Europe/Berlin',
  timeout: '1m',
});

/** This spec has the fields that the first one can't have, or leaves out. */
const played = agentTestKind.spec.parse({
  agentRefs: [{ name: 'receptionist' }],
  tools: [{ name: 'look_up', type: 'Error', error: 'busy' }],
  type: 'SimulatedUser',
  simulatedUser: {
    persona: 'impatient',
    goal: 'find out the hours',
    maxTurns: 4,
    llm: { provider: 'openai_compatible', model: 'm', baseURL: 'https://models.example.com/v1', apiKeySecretRef: secret },
  },
  atEnd: [
    { type: 'Called', called: { name: 'search', unknown: true, times: 2, arguments: { query: 'x' } } },
    { type: 'Judge', judge: 'is brief' },
    { type: 'Ends', ends: 'agent_ended_call' },
  ],
});

const stored = (of: AgentTestSpec) =>
  ({
    apiVersion: 'parley.dev/v1beta1',
    kind: 'AgentTest',
    metadata: { name: 't', namespace: 'acme', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: of,
  }) as Stored<AgentTest>;

const state = { ready: true, reason: 'Available', message: '' };
const toRest = (of: AgentTestSpec) => agentTestToRest(stored(of), { secrets: masked, state }) as AgentTestUpdate;

function fromRest(body: unknown, previous?: AgentTestSpec) {
  const found: ValidationIssue[] = [];
  const secrets = new SecretWriter({ name: secret.name, mayMove: false, randomId: () => 'r1' });
  const sent = validate(previous === undefined ? agentTestCreate : agentTestUpdate, body, ['body']);
  if (!sent.ok) throw new Error(JSON.stringify(sent.issues));
  const written = agentTestFromRest(sent.value, previous, { secrets, loc: ['body'], found });
  return { spec: written, found, secrets };
}

describe('an AgentTest in REST', () => {
  it('reads in its own words, and free values as they are', () => {
    expect(toRest(spec)).toMatchObject({
      test_id: 't',
      ai_agent_ids: ['receptionist', 'night'],
      required: true,
      mode: 'audio',
      dynamic_data: { customer: 'Ada', orders: 2 },
      tools: [
        { name: 'look_up', when: { id: '42', deep: { a: [1] } }, returns: { state: 'shipped', notContains: 1 } },
        {},
        { name: 'find', passthrough: true },
      ],
      conversation: [
        {
          expect: [
            { answer: { not_contains: ['ten'], max_words: 40 } },
            {},
            { tool: { name: 'cancel', unknown: true } },
            { judge: 'is polite' },
            {},
            { handoff: 'billing' },
          ],
        },
        { keys: '42#' },
      ],
      at_end: [{ never_called: 'transfer_call' }, { handoff: 'dentist' }, { analysis: { name: 'topic', equals: false } }, {}],
      judge: { model_provider: 'openai_compatible', model_name: 'm', base_url: 'https://models.example.com/v1', api_key: '********' },
      pass_at_least: 2,
      results: [],
    });
  });

  it('sent back as it was read changes nothing', () => {
    for (const one of [spec, played]) {
      const { spec: written, found } = fromRest(toRest(one), one);
      expect([written, found]).toEqual([one, []]);
    }
  });

  it('makes the same of a new object, with its key in a Secret', () => {
    const { judge, ...rest } = toRest(spec);
    const { spec: written, secrets } = fromRest({ ...rest, judge: { ...judge, api_key: 'sk-1' } });
    expect(written).toEqual({
      ...spec,
      judge: { ...spec.judge, apiKeySecretRef: { name: secret.name, key: expect.any(String) as string } },
    });
    expect([...secrets.pending.values()]).toEqual(['sk-1']);
  });

  it('keeps what is not sent, and takes out what is null', () => {
    const { judge: _judge, conversation: _turns, ...rest } = spec;
    const update = { judge: null, conversation: null, simulated_user: { goal: 'g', max_turns: 3 }, repeat: null };
    expect(fromRest(update, spec).spec).toEqual({
      ...rest,
      repeat: undefined,
      type: 'SimulatedUser',
      simulatedUser: { goal: 'g', maxTurns: 3 },
    });
    expect(fromRest({ required: false }, spec).spec).toEqual({ ...spec, required: false });
  });

  it('replaces a list as a whole, with the objects in its items', () => {
    const turns = [{ user: 'Hours?', expect: [{ answer: { matches: 'nine' } }, { tool: { name: 'search' } }] }];
    expect(fromRest({ conversation: turns }, spec).spec.conversation).toEqual([
      {
        type: 'User',
        user: 'Hours?',
        expect: [
          { type: 'Answer', answer: { matches: 'nine' } },
          { type: 'Tool', tool: { name: 'search' } },
        ],
      },
    ]);
  });

  it('has unions without their type, which follows from what is sent', () => {
    const tools = [
      { name: 'f', passthrough: true },
      { name: 'f', returns: 0 },
      { name: 'f', sequence: [{ returns: false }] },
    ] as const;
    const { spec: written, found } = fromRest({ tools: tools.toReversed() }, spec);
    expect([written.tools, found]).toEqual([
      [
        { name: 'f', type: 'Sequence', sequence: [{ type: 'Returns', returns: false }] },
        { name: 'f', type: 'Returns', returns: 0 },
        { name: 'f', type: 'Passthrough' },
      ],
      [],
    ]);
    expect(JSON.stringify(toRest(spec))).not.toContain('"type"');
  });

  it.each([
    [{ tools: [{ name: 'f', error: 'e', passthrough: true }] }, ['tools', 0], 'returns, error, sequence, passthrough'],
    [{ tools: [{ name: 'f', sequence: [{}] }] }, ['tools', 0, 'sequence', 0], 'returns, error'],
    [{ conversation: [{ user: 'Hi', keys: '1' }] }, ['conversation', 0], 'user, keys'],
    [{ conversation: [{ user: 'Hi', expect: [{}] }] }, ['conversation', 0, 'expect', 0], 'answer, tool, handoff, judge, within, ends'],
    [{ at_end: [{ judge: 'j', never_called: 'f' }] }, ['at_end', 0], 'never_called, called, handoff, analysis, judge, ends'],
    [{ simulated_user: { goal: 'g' } }, [], 'conversation, simulated_user'],
  ])('refuses an object that is none or two of its kinds: %j', (update, loc, names) => {
    expect(fromRest(update, spec).found).toMatchObject([{ loc: ['body', ...loc], msg: `Value error, set exactly one of ${names}` }]);
  });

  it('does not send a key that it does not show to another address', () => {
    expect(fromRest({ judge: { base_url: 'https://elsewhere.example.com/v1' } }, spec).found).toHaveLength(1);
  });

  it.each([
    ['spec.conversation[0].expect[1].answer.matches', ['conversation', 0, 'expect', 1, 'answer', 'matches']],
    ['spec.tools[1].sequence[0].returns', ['tools', 1, 'sequence', 0, 'returns']],
    ['spec.atEnd[0].called.arguments', ['at_end', 0, 'called', 'arguments']],
    ['spec.agentRefs', ['ai_agent_ids']],
    ['spec.simulatedUser.llm.provider', ['simulated_user', 'llm', 'model_provider']],
  ])('names %s as the request does', (path, loc) => {
    expect(restLoc(agentTestFieldNames, path)).toEqual(['body', ...loc]);
  });
});

it('has a case for each field of the table: add what is named here to the bodies above', () => {
  expect(fieldsWithoutCase(agentTestFieldNames, [toRest(spec), toRest(played)])).toEqual([]);
});
