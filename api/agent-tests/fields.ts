/** AgentTests in REST: every field. Pure. */
import { z } from 'zod';

import { agentTestKind, testVerdicts, type AgentTest, type AgentTestSpec, type AgentTestStatus } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { describeFields } from '../codec/describe-fields.ts';
import {
  answerShape,
  bringsSecrets,
  createShape,
  field,
  fieldNamesOf,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Conversion,
  type Decoding,
  type Encoding,
} from '../codec/fields.ts';
import type { Draft } from '../codec/present.ts';
import { named, text } from '../codec/schemas.ts';
import type { KeyRef, SecretValues } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import { resourceState } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { conversation, duration, endChecks, judgeModel, mocks, simulatedUser } from './content.ts';

interface AgentTestReading extends Decoding {
  readonly state: ResourceState;
}

const agentNames: Conversion = {
  read: (stored: readonly { readonly name: string }[]) => stored.map(({ name }) => name),
  write: (names: readonly string[]) => names.map((name) => ({ name })),
  below: { '.*': '.*', '.*.name': '.*' },
};

const result = z
  .object({
    ai_agent_id: z.string().describe('The agent.'),
    revision: z.string().describe('The revision of the agent that was tested.'),
    verdict: z.enum([...testVerdicts, 'running']).describe('`error`: it could not be evaluated.'),
    passed: z.int().optional().describe('Attempts that passed.'),
    failed: z.int().optional().describe('Attempts that did not.'),
    flaky: z.boolean().optional().describe('Passed, although some attempts did not.'),
    test_run_id: z.string().describe('The run that this comes from.'),
    finished_at: z.iso.datetime().optional().describe('Absent while it runs.'),
    message: z.string().optional().describe('The first failure.'),
  })
  .meta({ id: 'AgentTestResult' });

function resultToRest({ agent, runID, finishedAt, ...rest }: NonNullable<AgentTestStatus['results']>[number]) {
  return { ai_agent_id: agent, test_run_id: runID, ...(finishedAt !== undefined && { finished_at: finishedAt }), ...rest };
}

const fields = {
  test_id: field({
    create: text(253)
      .nullish()
      .describe('Name of a new test, in the form of a Kubernetes name; made up where absent. In an update it is that of the path.'),
    answer: z.string().describe('Name of the AgentTest resource.'),
    read: ({ metadata }: AgentTest) => metadata.name,
  }),
  ai_agent_ids: field({
    path: 'agentRefs',
    as: agentNames,
    create: z.array(named(253)).min(1).max(64),
    update: z.array(named(253)).min(1).max(64).optional(),
    answer: z.array(z.string()),
  }),
  required: field({
    path: 'required',
    create: z.boolean().nullish().describe('true: a revision of these agents that does not pass is never served.'),
    answer: z.boolean(),
  }),
  mode: field({ path: 'mode', create: z.enum(['text', 'audio']).nullish(), answer: z.enum(['text', 'audio']) }),
  dynamic_data: field({
    path: 'dynamicData',
    create: z
      .record(text(128), z.union([z.string().max(4096), z.number(), z.boolean()]))
      .meta({ maxProperties: 64 })
      .nullish(),
    answer: z.record(z.string(), z.unknown()),
    empty: {},
  }),
  tools: mocks,
  conversation,
  simulated_user: simulatedUser,
  at_end: endChecks,
  judge: judgeModel,
  repeat: field({ path: 'repeat', create: z.int().min(1).max(1000).nullish().describe('How many attempts are made.'), answer: z.int() }),
  pass_at_least: field({
    path: 'passAtLeast',
    create: z.int().min(1).max(1000).nullish(),
    answer: z.int().optional(),
  }),
  schedule: field({
    path: 'schedule',
    create: text(100).nullish(),
    answer: z.string().optional(),
  }),
  timeout: field({ path: 'timeout', create: duration().nullish(), answer: z.string() }),
  results: field({
    answer: z.array(result).describe('The newest result of each agent.'),
    read: ({ status }: AgentTest) => (status?.results ?? []).map(resultToRest),
  }),
  created_at: field({
    answer: z.iso.datetime().describe('When it was made.'),
    read: ({ metadata }: Stored<AgentTest>) => metadata.creationTimestamp,
  }),
  updated_at: field({ answer: z.iso.datetime().describe('Of the last change of its definition, by whatever means.'), read: writtenAt }),
  state: field({ answer: resourceState, read: (_: AgentTest, { state }: AgentTestReading) => state }),
};

describeFields(agentTestKind.spec, fields);

export const agentTestCreate = z.object(createShape(fields));
/** Absent fields keep their value, `null` brings back the default; lists are replaced as a whole. */
export const agentTestUpdate = z.object(updateShape(fields));
export const agentTestAnswer = z.object(answerShape(fields)).meta({ id: 'AgentTest' });

export type AgentTestCreate = z.output<typeof agentTestCreate>;
export type AgentTestUpdate = z.output<typeof agentTestUpdate>;

export const agentTestFieldNames = fieldNamesOf(fields);

export function agentTestToRest(
  test: Stored<AgentTest>,
  view: { readonly secrets: SecretValues; readonly state: ResourceState },
): Readonly<Record<string, unknown>> {
  return readFields(fields, test, view);
}

/** @see writeFields */
export function agentTestFromRest(
  body: AgentTestCreate | AgentTestUpdate,
  previous: AgentTestSpec | undefined,
  encoding: Encoding,
): Draft<AgentTestSpec> {
  return writeFields(fields, body, previous, encoding);
}

export const agentTestBringsSecrets = (body: AgentTestUpdate): boolean => bringsSecrets(fields, body);

/** Every Secret key that a test refers to. */
export const agentTestSecretRefs = (spec: Draft<AgentTestSpec>): readonly KeyRef[] => secretRefsOf(fields, spec);
