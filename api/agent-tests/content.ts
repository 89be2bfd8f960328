/** What an AgentTest says, in REST: mocks, turns, expectations and models. Pure. */
import { z } from 'zod';

import { finishReasons } from '../../platform/finish-reasons.ts';
import { originOf } from '../../crds/address.ts';
import { llmProviders } from '../../crds/providers.ts';
import { secret } from '../codec/conversions.ts';
import { answerShape, createShape, field, group, items, type Fields } from '../codec/fields.ts';
import { named, text } from '../codec/schemas.ts';

/** A schema of its own each time: each gets a text. */
const label = () => z.string().optional();
const free = (max: number) => z.record(text(128), z.unknown()).meta({ maxProperties: max });
const functionName = () => z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const scalar = () => z.union([z.string(), z.number(), z.boolean()]);
export const duration = () =>
  z
    .string()
    .max(32)
    .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/);

/** A group that may be left out as a whole, and taken out by null. @param name of its schemas */
const optional = <const F extends Fields>(name: string, path: string, fields: F) => {
  const all = group(fields, { name, path });
  return { ...all, create: all.create.nullish(), update: all.update.nullish(), answer: all.answer.optional() };
};

/** A list whose items are replaced as a whole. @param name of the schemas of an item */
const list = <const F extends Fields>(name: string, path: string, { fields, max, about }: { fields: F; max: number; about: string }) =>
  field({
    path,
    as: items(fields, (_sent, stored) => stored),
    create: z
      .array(z.object(createShape(fields)).meta({ id: `${name}Create` }))
      .max(max)
      .nullish()
      .describe(about),
    answer: z
      .array(z.object(answerShape(fields)).meta({ id: name }))
      .optional()
      .describe(about),
  });

interface Model {
  readonly provider?: string | undefined;
  readonly baseURL?: string | undefined;
}

/** @param at where the model is in the spec, and how the request calls it */
const modelFields = (schema: string, at: { readonly path: string; readonly name: string }, modelIn: (spec: unknown) => Model | undefined) =>
  optional(schema, at.path, {
    model_provider: field({
      path: `${at.path}.provider`,
      create: z.enum(llmProviders),
      update: z.enum(llmProviders).optional(),
      answer: z.string(),
    }),
    model_name: field({ path: `${at.path}.model`, create: named(256), update: named(256).optional(), answer: z.string() }),
    base_url: field({
      path: `${at.path}.baseURL`,
      create: text(2048)
        .regex(/^https?:\/\//)
        .nullish(),
      answer: label(),
    }),
    api_key: field({
      path: `${at.path}.apiKeySecretRef`,
      as: secret,
      create: named(4096).nullish(),
      answer: label(),
      sentTo: (spec: unknown) => {
        const model = modelIn(spec);
        if (model === undefined) return undefined;
        const address = model.baseURL === undefined ? "the provider's own" : originOf(model.baseURL);
        return { [`${at.name}.model_provider`]: model.provider, [`${at.name}.base_url`]: address };
      },
    }),
  });

const mockAnswer = {
  returns: field({
    path: 'returns',
    create: z.unknown().optional().describe('Any JSON value but null, as the answer of the tool.'),
    answer: z.unknown().optional(),
  }),
  error: field({ path: 'error', create: named(1500).nullish(), answer: label() }),
};

const MOCKS =
  'Answers in place of tools, looked up in order by function name and arguments; each with exactly one of `returns`, `error`, `sequence` and `passthrough`. A call that none of them answers fails the test.';

export const mocks = list('ToolMock', 'tools', {
  fields: {
    name: field({ path: 'name', create: functionName(), answer: z.string() }),
    when: field({ path: 'when', create: free(32).nullish(), answer: z.record(z.string(), z.unknown()).optional() }),
    ...mockAnswer,
    sequence: list('ToolMockAnswer', 'sequence', {
      fields: mockAnswer,
      max: 32,
      about: 'Answers of the first call, the second and so on, each with `returns` or `error`; the last one repeats.',
    }),
    passthrough: field({ path: 'passthrough', create: z.literal(true).nullish(), answer: z.boolean().optional() }),
    delay: field({ path: 'delay', create: duration().nullish(), answer: label() }),
  },
  max: 64,
  about: MOCKS,
});

const judge = () => field({ path: 'judge', create: named(1500).nullish(), answer: label() });
const ends = () => field({ path: 'ends', create: z.enum(finishReasons).nullish(), answer: label() });

const toolCall = (schema: string, path: string) =>
  optional(schema, path, {
    name: field({ path: `${path}.name`, create: functionName(), answer: z.string() }),
    unknown: field({ path: `${path}.unknown`, create: z.boolean().nullish(), answer: z.boolean().optional() }),
    times: field({ path: `${path}.times`, create: z.int().min(0).max(100).nullish(), answer: z.int().optional() }),
    arguments: field({
      path: `${path}.arguments`,
      create: free(32).nullish(),
      answer: z.record(z.string(), z.unknown()).optional(),
    }),
  });

const texts = (path: string) =>
  field({ path, create: z.array(named(500)).min(1).max(16).nullish(), answer: z.array(z.string()).optional() });

const expectations = list('TurnExpectation', 'expect', {
  fields: {
    answer: optional('AnswerExpectation', 'answer', {
      contains: texts('answer.contains'),
      not_contains: texts('answer.notContains'),
      matches: field({ path: 'answer.matches', create: named(1000).nullish(), answer: label() }),
      max_words: field({ path: 'answer.maxWords', create: z.int().min(0).max(10_000).nullish(), answer: z.int().optional() }),
      language: field({ path: 'answer.language', create: named(35).nullish(), answer: label() }),
    }),
    tool: toolCall('ToolExpectation', 'tool'),
    judge: judge(),
    within: field({ path: 'within', create: duration().nullish(), answer: label() }),
    ends: ends(),
  },
  max: 16,
  about: 'What is checked of the agent in this turn; each with exactly one field.',
});

export const conversation = list('TestTurn', 'conversation', {
  fields: {
    user: field({ path: 'user', create: named(4096).nullish(), answer: label() }),
    keys: field({
      path: 'keys',
      create: z
        .string()
        .regex(/^[0-9*#]{1,64}$/)
        .nullish(),
      answer: label(),
    }),
    expect: expectations,
  },
  max: 64,
  about: 'What the user says, and what is expected of the agent; or else `simulated_user`.',
});

export const endChecks = list('EndCheck', 'atEnd', {
  fields: {
    never_called: field({ path: 'neverCalled', create: functionName().nullish(), answer: label() }),
    called: toolCall('CalledTool', 'called'),
    analysis: optional('AnalysisCheck', 'analysis', {
      name: field({
        path: 'analysis.name',
        create: named(128).describe('Name of a result of `post_call_analysis` of the agent.'),
        answer: z.string().describe('Name of a result of `post_call_analysis` of the agent.'),
      }),
      equals: field({ path: 'analysis.equals', create: scalar(), answer: scalar() }),
    }),
    judge: judge(),
    ends: ends(),
  },
  max: 32,
  about: 'What is checked of the conversation as a whole; each with exactly one field.',
});

interface Spec {
  readonly judge?: Model;
  readonly simulatedUser?: { readonly llm?: Model };
}

export const judgeModel = modelFields('TestJudge', { path: 'judge', name: 'judge' }, (spec) => (spec as Spec).judge);

export const simulatedUser = optional('SimulatedUser', 'simulatedUser', {
  persona: field({ path: 'simulatedUser.persona', create: text(1500).nullish(), answer: label() }),
  goal: field({ path: 'simulatedUser.goal', create: named(1500), update: named(1500).optional(), answer: z.string() }),
  max_turns: field({ path: 'simulatedUser.maxTurns', create: z.int().min(1).max(50).nullish(), answer: z.int().optional() }),
  llm: modelFields(
    'SimulatedUserModel',
    { path: 'simulatedUser.llm', name: 'simulated_user.llm' },
    (spec) => (spec as Spec).simulatedUser?.llm,
  ),
});
