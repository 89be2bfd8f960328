import { describe, expect, it } from 'vitest';

import { agentTestProblems } from './agent-test-problems.ts';
import { agentTestKind, type AgentTestSpec } from './agent-test.ts';

const base = { agentRefs: [{ name: 'receptionist' }], type: 'Conversation', conversation: [{ type: 'User', user: 'Hi!' }] };
const specOf = (fields: object): AgentTestSpec => agentTestKind.spec.parse({ ...base, ...fields });
const turn = (check: object) => ({
  conversation: [
    { type: 'User', user: 'Hi!' },
    { type: 'User', user: 'Hours?', expect: [{ type: 'Judge', judge: 'is polite' }, check] },
  ],
});

describe('an AgentTest', () => {
  const sound: readonly (readonly [string, object])[] = [
    ['the least there can be', {}],
    ['dynamic data', { dynamicData: { customer: 'Ada', orders: 2, known: true } }],
    ['a mock that returns nothing', { tools: [{ name: 'look_up', type: 'Returns', returns: null }] }],
    [
      'a mock with a sequence',
      {
        tools: [
          {
            name: 'look_up',
            type: 'Sequence',
            when: { id: '42' },
            sequence: [
              { type: 'Error', error: 'busy' },
              { type: 'Returns', returns: {} },
            ],
          },
        ],
      },
    ],
    ['a passthrough', { tools: [{ name: 'look_up', type: 'Passthrough' }] }],
    ['a regular expression', turn({ type: 'Answer', answer: { matches: '^\\p{Lu}' } })],
    [
      'matchers of arguments',
      turn({ type: 'Tool', tool: { name: 'x', arguments: { a: 1, b: { contains: 'c' }, d: { equals: { contains: 1 } }, e: [1] } } }),
    ],
    ['a result of the analysis', { atEnd: [{ type: 'Analysis', analysis: { name: 'topic', equals: false } }] }],
    ['a schedule', { schedule: '*/5 6-20 1,15 JAN MON-FRI', timeZone: 'Europe/Berlin' }],
    ['a judge', { judge: { provider: 'openai_compatible', model: 'm', baseURL: 'http://models.example/v1' } }],
  ];
  it.each(sound)('is sound with %s', (_name, fields) => {
    expect(agentTestProblems(specOf(fields))).toEqual([]);
  });

  const unsound: readonly (readonly [string, object, string, RegExp])[] = [
    ['dynamic data of another type', { dynamicData: { a: [1] } }, 'spec.dynamicData.a', /a text, a number or a boolean/],
    ['a mock that returns nothing at all', { tools: [{ name: 'x', type: 'Returns' }] }, 'spec.tools[0]', /^set returns with type Returns/],
    ['a passthrough that returns', { tools: [{ name: 'x', type: 'Passthrough', returns: null }] }, 'spec.tools[0]', /with no other type$/],
    [
      'a step of a sequence without an answer',
      { tools: [{ name: 'x', type: 'Sequence', sequence: [{ type: 'Returns' }] }] },
      'spec.tools[0].sequence[0]',
      /^set returns with type Returns/,
    ],
    [
      'a misspelt reason',
      turn({ type: 'Ends', ends: 'user_end_call' }),
      'spec.conversation[1].expect[1].ends',
      /: did you mean user_ended_call\?$/,
    ],
    [
      'an unknown reason',
      { atEnd: [{ type: 'Ends', ends: 'tired' }] },
      'spec.atEnd[0].ends',
      /"tired": use one of user_ended_call, agent_/,
    ],
    ['a time zone that does not exist', { schedule: '0 6 * * *', timeZone: 'Europe/Berln' }, 'spec.timeZone', /not an IANA time zone; use/],
    ['a large answer', { tools: [{ name: 'x', type: 'Returns', returns: 'x'.repeat(40_000) }] }, 'spec.tools[0].returns', /at most 32768/],
    [
      'a bad regular expression',
      turn({ type: 'Answer', answer: { matches: '(' } }),
      'spec.conversation[1].expect[1].answer.matches',
      /not a regular expression: .*Unterminated group/,
    ],
    ['a bad language', turn({ type: 'Answer', answer: { language: 'x_y' } }), 'spec.conversation[1].expect[1].answer.language', /BCP 47/],
    [
      'a matcher with a typing error',
      turn({ type: 'Tool', tool: { name: 'x', arguments: { q: { contain: 'hours' } } } }),
      'spec.conversation[1].expect[1].tool.arguments.q',
      /one of contains, matches, equals/,
    ],
    [
      'a matcher that is no text',
      turn({ type: 'Tool', tool: { name: 'x', arguments: { q: { contains: 1 } } } }),
      'spec.conversation[1].expect[1].tool.arguments.q.contains',
      /must be a text/,
    ],
    [
      'a bad regular expression of an argument',
      { atEnd: [{ type: 'Called', called: { name: 'x', arguments: { q: { matches: '[' } } } }] },
      'spec.atEnd[0].called.arguments.q.matches',
      /not a regular expression/,
    ],
    [
      'arguments of a call that must not be',
      turn({ type: 'Tool', tool: { name: 'x', times: 0, arguments: { q: 1 } } }),
      'spec.conversation[1].expect[1].tool.arguments',
      /times: 0/,
    ],
    [
      'an analysis without a value',
      { atEnd: [{ type: 'Analysis', analysis: { name: 'topic' } }] },
      'spec.atEnd[0].analysis.equals',
      /a text, a number/,
    ],
    [
      'an address without a host',
      {
        conversation: undefined,
        type: 'SimulatedUser',
        simulatedUser: { goal: 'g', llm: { provider: 'openai', model: 'm', baseURL: 'http://:80' } },
      },
      'spec.simulatedUser.llm.baseURL',
      /./,
    ],
    ['a minute that does not exist', { schedule: '99 * * * *' }, 'spec.schedule', /not a cron expression/],
    ['more passes than attempts', { repeat: 2, passAtLeast: 3 }, 'spec.passAtLeast', /not be more than repeat/],
    [
      'an answer of which nothing is expected',
      turn({ type: 'Answer', answer: {} }),
      'spec.conversation[1].expect[1].answer',
      /at least one of contains/,
    ],
    ['a model without an address', { judge: { provider: 'openai_compatible', model: 'm' } }, 'spec.judge.baseURL', /is required/],
    ['a day that does not exist', { schedule: '0 0 31 FEB *' }, 'spec.schedule', /never comes/],
    ['a letter that some readers know', { schedule: '0 0 L * *' }, 'spec.schedule', /L is neither/],
  ];
  it.each(unsound)('is refused with %s', (_name, fields, path, message) => {
    expect(agentTestProblems(specOf(fields))).toEqual([{ path, message: expect.stringMatching(message) as string }]);
  });
});
