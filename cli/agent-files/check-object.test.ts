import { describe, expect, it } from 'vitest';

import { agentKind, agentTestKind, toolKind } from '../../crds/index.ts';
import { anAgent, aTool } from '../../test/support/builders.ts';
import { checkSpec } from './check-object.ts';

const conversation = [{ user: 'Hello' }];
const test = (more: object) => ({ agentRefs: [{ name: 'a' }], conversation, ...more });

describe('a spec', () => {
  it('is what the API server would store, with its defaults', () => {
    expect(checkSpec(agentTestKind, test({}))).toMatchObject({
      problems: [],
      spec: { mode: 'text', repeat: 1, timeout: '2m', required: false },
    });
    expect(checkSpec(agentKind, anAgent('a').spec)).toMatchObject({ problems: [], spec: { language: expect.any(String) } });
  });

  it.each([
    ['a field that is missing', agentTestKind, { conversation }, 'spec.agentRefs', /is required/],
    ['a field of another type', agentTestKind, test({ repeat: 'often' }), 'spec.repeat', /must be a number and is "often"/],
    [
      'a text that YAML reads as a boolean',
      agentTestKind,
      test({ conversation: [{ user: true }] }),
      'spec.conversation[0].user',
      /in quotes/,
    ],
    ['an empty list', agentTestKind, test({ agentRefs: [] }), 'spec.agentRefs', /must have at least 1 entries: add one/],
    ['a word of a list', agentTestKind, test({ mode: 'txt' }), 'spec.mode', /one of text, audio and is "txt": did you mean text\?/],
    ['a number that is too large', agentTestKind, test({ repeat: 2_000 }), 'spec.repeat', /must be at most 1000$/],
    [
      'a text of another form',
      agentTestKind,
      test({ conversation: [{ keys: 'a' }] }),
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
      test({ conversation: [{ user: 'x', expcet: [] }] }),
      'spec.conversation[0].expcet',
      /use one of user, keys, expect/,
    ],
    ['a broken rule', agentTestKind, test({ simulatedUser: { goal: 'x' } }), 'spec', /exactly one of conversation, simulatedUser/],
    ['a rule about numbers', agentTestKind, test({ repeat: 2, passAtLeast: 3 }), 'spec.passAtLeast', /must not be more than repeat/],
    ['a rule about durations', agentTestKind, test({ timeout: '31m' }), 'spec.timeout', /30m/],
    [
      'a rule of a list item',
      agentTestKind,
      test({ conversation: [{ user: 'x', keys: '1' }] }),
      'spec.conversation[0]',
      /exactly one of user, keys/,
    ],
    [
      'a rule of a shared part',
      agentTestKind,
      test({ judge: { provider: 'openai_compatible', model: 'm' } }),
      'spec.judge.baseURL',
      /is required for provider/,
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
    const tools = [{ name: 'f', when: { any: { thing: [1, null] } }, returns: { deeply: { nested: null } } }];
    expect(checkSpec(agentTestKind, test({ tools })).problems).toEqual([]);
  });
});
