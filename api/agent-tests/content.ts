/** Translates the content of an AgentTest between REST and the resource: mocks, turns, expectations and models. Pure. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { agentTestKind } from '../../crds/index.ts';
import { llmProviders } from '../../crds/providers.ts';
import { finishReasons } from '../../platform/finish-reasons.ts';
import { atSamePlace, items, secret } from '../codec/conversions.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { schemaAt } from '../codec/rest-schema.ts';
import { unionType } from '../codec/union-type.ts';

const { spec } = agentTestKind;
const { field, group } = fieldsOf(spec);
const mock = fieldsOf(schemaAt(spec, 'tools.*'));
const mockAnswer = fieldsOf(schemaAt(spec, 'tools.*.sequence.*'));
const turn = fieldsOf(schemaAt(spec, 'conversation.*'));
const expectation = fieldsOf(schemaAt(spec, 'conversation.*.expect.*'));
const endCheck = fieldsOf(schemaAt(spec, 'atEnd.*'));

const scalar = () => z.union([z.string(), z.number(), z.boolean()]);
const provider = () => z.enum(llmProviders);
const endReason = { body: () => z.enum(finishReasons), answer: z.enum(finishReasons).optional() };

interface Model {
  readonly provider?: string | undefined;
  readonly baseURL?: string | undefined;
}

/** @param at prefix of the model's fields in the request */
const modelOrigin = (at: string, { provider: name, baseURL }: Model) => ({
  [`${at}.model_provider`]: name,
  [`${at}.base_url`]: baseURL === undefined ? "the provider's own" : originOf(baseURL),
});

const PASSTHROUGH = 'true: the tool itself is called.';
const MOCK_RETURNS = 'Any JSON value but null, as the answer of the tool.';

export const mocks = field('tools', {
  as: items(
    {
      name: mock.field('name'),
      when: mock.field('when'),
      returns: mock.field('returns', { text: MOCK_RETURNS }),
      error: mock.field('error'),
      sequence: mock.field('sequence', {
        as: items(
          {
            returns: mockAnswer.field('returns', { text: MOCK_RETURNS }),
            error: mockAnswer.field('error'),
            type: unionType({ returns: 'returns', error: 'error' }),
          },
          { name: 'ToolMockAnswer', match: atSamePlace },
        ),
        text: 'Answers of the first call, the second and so on, each with `returns` or `error`; the last one repeats.',
      }),
      passthrough: mock.restField({
        create: z.literal(true).nullish().describe(PASSTHROUGH),
        answer: z.boolean().optional().describe(PASSTHROUGH),
        read: ({ spec: { type } }) => (type === 'Passthrough' ? true : undefined),
      }),
      type: unionType({ returns: 'returns', error: 'error', sequence: 'sequence', passthrough: 'passthrough' }),
      delay: mock.field('delay'),
    },
    { name: 'ToolMock', match: atSamePlace },
  ),
  text: 'Answers in place of tools, looked up in order by function name and arguments; each with exactly one of `returns`, `error`, `sequence` and `passthrough`. A call that none of them answers fails the test.',
});

const expectations = turn.field('expect', {
  as: items(
    {
      answer: expectation.group(
        {
          contains: expectation.field('answer.contains'),
          not_contains: expectation.field('answer.notContains'),
          matches: expectation.field('answer.matches'),
          max_words: expectation.field('answer.maxWords'),
          language: expectation.field('answer.language'),
        },
        { name: 'AnswerExpectation', path: 'answer' },
      ),
      tool: expectation.group(
        {
          name: expectation.field('tool.name'),
          unknown: expectation.field('tool.unknown'),
          times: expectation.field('tool.times'),
          arguments: expectation.field('tool.arguments'),
        },
        { name: 'ToolExpectation', path: 'tool' },
      ),
      handoff: expectation.field('handoff', { text: 'The `ai_agent_id` of the agent that takes over in this turn.' }),
      judge: expectation.field('judge'),
      within: expectation.field('within'),
      ends: expectation.field('ends', { ...endReason, text: 'The call ends in this turn, for this reason.' }),
      type: unionType({ answer: 'answer', tool: 'tool', handoff: 'handoff', judge: 'judge', within: 'within', ends: 'ends' }),
    },
    { name: 'TurnExpectation', match: atSamePlace },
  ),
  text: 'What is checked of the agent in this turn; each with exactly one field.',
});

export const conversation = field('conversation', {
  as: items(
    { user: turn.field('user'), keys: turn.field('keys'), type: unionType({ user: 'user', keys: 'keys' }), expect: expectations },
    { name: 'TestTurn', match: atSamePlace },
  ),
  text: 'What the user says, and what is expected of the agent; or else `simulated_user`.',
});

export const endChecks = field('atEnd', {
  as: items(
    {
      never_called: endCheck.field('neverCalled'),
      called: endCheck.group(
        {
          name: endCheck.field('called.name'),
          unknown: endCheck.field('called.unknown'),
          times: endCheck.field('called.times'),
          arguments: endCheck.field('called.arguments'),
        },
        { name: 'CalledTool', path: 'called' },
      ),
      analysis: endCheck.group(
        {
          name: endCheck.field('analysis.name', { text: 'Name of a result of `post_call_analysis` of the agent.' }),
          equals: endCheck.field('analysis.equals', { required: true, body: scalar, answer: scalar() }),
        },
        { name: 'AnalysisCheck', path: 'analysis' },
      ),
      handoff: endCheck.field('handoff', { text: 'The `ai_agent_id` of an agent that takes over in the conversation.' }),
      judge: endCheck.field('judge'),
      ends: endCheck.field('ends', { ...endReason, text: 'The call has ended, for this reason.' }),
      type: unionType({
        never_called: 'neverCalled',
        called: 'called',
        handoff: 'handoff',
        analysis: 'analysis',
        judge: 'judge',
        ends: 'ends',
      }),
    },
    { name: 'EndCheck', match: atSamePlace },
  ),
  text: 'What is checked of the conversation as a whole; each with exactly one field.',
});

export const judgeModel = group(
  {
    model_provider: field('judge.provider', { body: provider }),
    model_name: field('judge.model'),
    base_url: field('judge.baseURL'),
    api_key: field('judge.apiKeySecretRef', { as: secret, sentTo: ({ judge }) => judge && modelOrigin('judge', judge) }),
  },
  { name: 'TestJudge', path: 'judge' },
);

export const simulatedUser = group(
  {
    persona: field('simulatedUser.persona'),
    goal: field('simulatedUser.goal'),
    max_turns: field('simulatedUser.maxTurns'),
    llm: group(
      {
        model_provider: field('simulatedUser.llm.provider', { body: provider }),
        model_name: field('simulatedUser.llm.model'),
        base_url: field('simulatedUser.llm.baseURL'),
        api_key: field('simulatedUser.llm.apiKeySecretRef', {
          as: secret,
          sentTo: ({ simulatedUser: { llm } = {} }) => llm && modelOrigin('simulated_user.llm', llm),
        }),
      },
      { name: 'SimulatedUserModel', path: 'simulatedUser.llm' },
    ),
  },
  { name: 'SimulatedUser', path: 'simulatedUser' },
);
