/** Lists every field of AgentTests in REST. Pure. */
import { z } from 'zod';

import { agentTestKind, testVerdicts, type AgentTest, type AgentTestSpec, type AgentTestStatus } from '../../crds/index.ts';
import { LONGEST_QUERY_VALUE } from '../../crds/limits.ts';
import { localRef } from '../../crds/schema.ts';
import type { Stored } from '../../kube/types.ts';
import { choice, references } from '../codec/conversions.ts';
import {
  answerShape,
  bringsSecrets,
  createShape,
  fieldNamesOf,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Decoding,
  type Encoding,
} from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import type { Draft } from '../codec/draft.ts';
import { bodySchema, mapLike } from '../codec/rest-schema.ts';
import type { KeyRef, SecretValues } from '../codec/secrets.ts';
import { unionType } from '../codec/union-type.ts';
import { writtenAt } from '../resources/written-at.ts';
import { resourceState } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { volatile } from '../validation/unknown-fields.ts';
import { conversation, endChecks, judgeModel, mocks, simulatedUser } from './content.ts';

interface AgentTestReading extends Decoding {
  readonly state: ResourceState;
}

const result = z
  .object({
    ai_agent_id: z.string().describe('The agent.'),
    revision: z.string().describe('The revision of the agent that was tested.'),
    verdict: z.enum([...testVerdicts, 'running']).describe('`error`: it could not be evaluated.'),
    passed: z.int().optional().describe('Attempts that passed.'),
    failed: z.int().optional().describe('Attempts that did not pass.'),
    flaky: z.boolean().optional().describe('Passed, although some attempts did not.'),
    test_run_id: z.string().describe('The run that this comes from.'),
    finished_at: z.iso.datetime().optional().describe('When it ended; absent while it runs.'),
    message: z.string().optional().describe('The first failure.'),
  })
  .meta({ id: 'AgentTestResult' });

function resultToRest({ agent, runID, finishedAt, verdict, ...rest }: NonNullable<AgentTestStatus['results']>[number]) {
  return {
    ai_agent_id: agent,
    test_run_id: runID,
    verdict: verdict.toLowerCase() as Lowercase<typeof verdict>,
    ...(finishedAt !== undefined && { finished_at: finishedAt }),
    ...rest,
  };
}

const { field, answered, restField } = fieldsOf<typeof agentTestKind.spec, Stored<AgentTest>, AgentTestReading>(agentTestKind.spec);

const fields = {
  test_id: restField({
    create: bodySchema(localRef().shape.name)
      .nullish()
      .describe('Name of a new test, in the form of a Kubernetes name; made up where absent. In an update it is that of the path.'),
    answer: z.string().describe('Name of the AgentTest resource.'),
    read: ({ metadata }) => metadata.name,
  }),
  ai_agent_ids: field('agentRefs', { as: references }),
  required: field('required'),
  mode: field('mode', {
    as: choice({ text: 'Text', audio: 'Audio' }),
    text: 'text: the conversation without sound. audio: a call through the media server with synthesised speech.',
  }),
  dynamic_data: field('dynamicData', {
    body: (data) => mapLike(data, z.union([z.string().max(LONGEST_QUERY_VALUE), z.number(), z.boolean()])),
    empty: {},
  }),
  tools: mocks,
  conversation,
  simulated_user: simulatedUser,
  type: unionType({ conversation: 'conversation', simulated_user: 'simulatedUser' }),
  at_end: endChecks,
  judge: judgeModel,
  repeat: field('repeat'),
  pass_at_least: field('passAtLeast'),
  schedule: field('schedule'),
  time_zone: field('timeZone'),
  timeout: field('timeout'),
  results: answered(volatile(z.array(result).describe('The newest result of each agent.')), ({ status }) =>
    (status?.results ?? []).map(resultToRest),
  ),
  created_at: answered(z.iso.datetime().describe('When it was made.'), ({ metadata }) => metadata.creationTimestamp),
  updated_at: answered(volatile(z.iso.datetime().describe('When its definition was last changed, by whatever means.')), writtenAt),
  state: answered(resourceState, (_, { state }) => state),
};

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

/** Writes the fields of a request into the spec. @see writeFields */
export function agentTestFromRest(
  body: AgentTestCreate | AgentTestUpdate,
  previous: AgentTestSpec | undefined,
  encoding: Encoding,
): Draft<AgentTestSpec> {
  return writeFields(fields, body, previous, encoding);
}

export const agentTestBringsSecrets = (body: AgentTestUpdate): boolean => bringsSecrets(fields, body);

export const agentTestSecretRefs = (spec: Draft<AgentTestSpec>): readonly KeyRef[] => secretRefsOf(fields, spec);
