import { describe, expect, it } from 'vitest';

import { agentKind, agentTestKind, toolKind } from '../../crds/index.ts';
import { anAgent, aTool } from '../../test/support/builders.ts';
import { checkSpec } from './check-object.ts';

const conversation = [{ type: 'User', user: 'Hello' }];
const test = (more: object) => ({ agentRefs: [{ name: 'a' }], type: 'Conversation', conversation, ...more });

describe('a spec', () => {
  it('is what the API server would store, with its defaults', () => {
    expect(checkSpec(agentTestKind, test({}))).toMatchObject({
      problems: [],
      spec: { mode: 'Text', repeat: 1, timeout: '2m', required: false },
    });
    expect(checkSpec(agentKind, anAgent('a').spec)).toMatchObject({ problems: [], spec: { language: expect.any(String) } });
  });

  it.each([
    ['a field that is missing', agentTestKind, { type: 'Conversation', conversation }, 'spec.agentRefs', /is required/],
    ['a field of another type', agentTestKind, test({ repeat: 'often' }), 'spec.repeat', /must be a number and is "often"/],
    [
      'a text that YAML reads as a boolean',
      agentTestKind,
      test({ conversation: [{ type: 'User', user: true }] }),
      'spec.conversation[0].user',
      /in quotes/,
    ],
    ['an empty list', agentTestKind, test({ agentRefs: [] }), 'spec.agentRefs', /must have at least 1 entries: add one/],
    ['a word of a list', agentTestKind, test({ mode: 'txt' }), 'spec.mode', /one of Text, Audio and is "txt": did you mean Text\?/],
    ['a number that is too large', agentTestKind, test({ repeat: 2_000 }), 'spec.repeat', /must be at most 100$/],
    [
      'a text of another form',
      agentTestKind,
      test({ conversation: [{ type: 'Keys', keys: 'a' }] }),
      'spec.conversation[0].keys',
      /must match .* and is "a"/,
    ],
    [
      'a field that does not exist',
      agentTestKind,
      test({ requierd: true }),
      'spec.requierd',
      /is not a field here: use one of suspend, agentRefs/,
    ],
    [
      'one in a list',
      agentTestKind,
      test({ conversation: [{ type: 'User', user: 'x', expcet: [] }] }),
      'spec.conversation[0].expcet',
      /use one of type, user, keys, expect/,
    ],
    [
      'a broken rule',
      agentTestKind,
      test({ simulatedUser: { goal: 'x' } }),
      'spec',
      /^set simulatedUser with type SimulatedUser, and with no other type$/,
    ],
    [
      'a kind of test that is forgotten',
      agentTestKind,
      { ...test({}), type: undefined },
      'spec.type',
      /^is required: write type: Conversation$/,
    ],
    [
      'a type that is forgotten in a list',
      agentTestKind,
      test({ conversation: [{ type: 'User', user: 'x', expect: [{ answer: { maxWords: 3 } }] }] }),
      'spec.conversation[0].expect[0].type',
      /^is required: write type: Answer$/,
    ],
    [
      'a type that nothing tells',
      agentTestKind,
      test({ atEnd: [{}] }),
      'spec.atEnd[0].type',
      /^is required: write one of NeverCalled, Called, Handoff, Analysis, Judge, Ends$/,
    ],
    [
      'a type of two',
      agentTestKind,
      test({ tools: [{ name: 'f', error: 'e', sequence: [] }] }),
      'spec.tools[0].type',
      /write one of Returns, E/,
    ],
    [
      'a type of lower case',
      agentTestKind,
      test({ tools: [{ name: 'f', type: 'error', error: 'e' }] }),
      'spec.tools[0].type',
      /did you mean Error\?$/,
    ],
    ['a rule about numbers', agentTestKind, test({ repeat: 2, passAtLeast: 3 }), 'spec.passAtLeast', /must not be more than repeat/],
    ['a rule about durations', agentTestKind, test({ timeout: '31m' }), 'spec.timeout', /30m/],
    [
      'a rule of a list item',
      agentTestKind,
      test({ conversation: [{ type: 'User', user: 'x', keys: '1' }] }),
      'spec.conversation[0]',
      /^set keys with type Keys, and with no other type$/,
    ],
    [
      'a rule of a shared part',
      agentTestKind,
      test({ judge: { provider: 'openai_compatible', model: 'm' } }),
      'spec.judge.baseURL',
      /is required for provider/,
    ],
    [
      'an end that never comes',
      agentTestKind,
      test({ atEnd: [{ type: 'Ends', ends: 'tired' }] }),
      'spec.atEnd[0].ends',
      /use one of user_ended/,
    ],
    ['what no schema can say', agentTestKind, test({ schedule: '0 6 31 2 *' }), 'spec.schedule', /never comes/],
    [
      'an unknown provider',
      agentKind,
      { ...anAgent('a').spec, llm: { provider: 'opnai', model: 'm' } },
      'spec.llm.provider',
      /one of openai, azure_openai, .* and is "opnai": did you mean openai\?/,
    ],
    [
      'an unsound address',
      toolKind,
      aTool('t', undefined, { custom: { function: { name: 'f' }, http: { url: 'https://[::1' } } }).spec,
      'spec.custom.http.url',
      /./,
    ],
  ])('has a problem: %s', (_what, kind, spec, path, message) => {
    expect(checkSpec(kind, spec).problems).toContainEqual({ path, message: expect.stringMatching(message) });
  });

  it('may hold any field where any value is allowed', () => {
    const tools = [{ name: 'f', type: 'Returns', when: { any: { thing: [1, null] } }, returns: { deeply: { nested: null } } }];
    expect(checkSpec(agentTestKind, test({ tools })).problems).toEqual([]);
  });
});
