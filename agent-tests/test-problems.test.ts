import { describe, expect, it } from 'vitest';

import { agentTestKind } from '../crds/index.ts';
import { testProblems, type TestedAgent } from './test-problems.ts';

const dynamicData = [{ name: 'plan', url: 'https://example.com', response: [{ name: 'plan', jsonPath: '$.plan' }] }];
const agent = (spec: object = {}): TestedAgent => ({
  config: { name: 'desk', tools: [], knowledgeBase: null, agent: { ...spec, dynamicData } } as unknown as TestedAgent['config'],
  searches: false,
});
const answer = [{ type: 'Answer', answer: { contains: ['nine'] } }];
const problems = (spec: object, tested = agent()) =>
  testProblems(agentTestKind.spec.parse({ agentRefs: [{ name: 'desk' }], ...spec }), tested);

describe('a test that expects nothing', () => {
  it.each([
    [
      'in no turn',
      {
        type: 'Conversation',
        conversation: [
          { type: 'User', user: 'a' },
          { type: 'User', user: 'b', expect: [] },
        ],
      },
    ],
    ['and has an empty atEnd', { type: 'Conversation', conversation: [{ type: 'User', user: 'a' }], atEnd: [] }],
  ])('%s is an error', async (_what, spec) => {
    expect(await problems(spec)).toMatchObject([{ path: 'spec.conversation', message: expect.stringContaining('expects nothing') }]);
  });

  it.each([
    [
      'an expectation of a turn',
      {
        type: 'Conversation',
        conversation: [
          { type: 'User', user: 'a' },
          { type: 'User', user: 'b', expect: answer },
        ],
      },
    ],
    [
      'an expectation of the end',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'a' }], atEnd: [{ type: 'NeverCalled', neverCalled: 'end_call' }] },
    ],
    ['the goal of a simulated user', { type: 'SimulatedUser', simulatedUser: { goal: 'to know the hours' } }],
  ])('is none with %s', async (_what, spec) => {
    expect(await problems(spec)).toEqual([]);
  });
});

it('that lacks dynamic data with which alone a call is accepted is an error', async () => {
  const tested = agent({ requiredDynamicData: ['customer', 'plan', 'shop'] });
  const conversation = [{ type: 'User', user: 'a', expect: answer }];
  expect(await problems({ type: 'Conversation', conversation, dynamicData: { shop: '' } }, tested)).toEqual([
    {
      path: 'spec.dynamicData',
      message: 'agent desk requires "customer", and a call without it is refused: add customer with a value',
    },
  ]);
});

describe('a function that the agent has not', () => {
  const tool = (call: object) =>
    problems({ type: 'Conversation', conversation: [{ type: 'User', user: 'a', expect: [{ type: 'Tool', tool: call }] }] });

  it('can only be expected as unknown', async () => {
    expect(await tool({ name: 'cancel' })).toMatchObject([
      { path: 'spec.conversation[0].expect[0].tool.name', message: expect.stringContaining('Set unknown: true') },
    ]);
    expect(await tool({ name: 'cancel', unknown: true })).toEqual([]);
    expect(await tool({ name: 'cancel', unknown: false })).toHaveLength(1);
  });

  it('is not one that it has', async () => {
    expect(await tool({ name: 'end_call', unknown: true })).toEqual([
      {
        path: 'spec.conversation[0].expect[0].tool.unknown',
        message: 'agent desk has the function "end_call": leave unknown out',
      },
    ]);
  });
});
