import { z } from 'zod';

import { listOf } from '../codec/answers.ts';

const revision = z.string().describe('SHA-256 of the configuration, in hex.');
const time = z.iso.datetime();
const reason = z.string().optional().describe('Why; of a canary that was aborted, with its figures. Absent where none was given.');
const requestedBy = z.string().optional().describe('The user who did it, or the id of the API key; absent where the operator did.');

const figures = z
  .object({
    calls: z.int().describe('The calls that are over, of the latest 1,000.'),
    errors: z.int().describe('Those of `calls` that ended as error.'),
    errors_by_reason: z.record(z.string(), z.int()).describe('The calls that ended as error, by `call_finish_reason`.'),
    failed_tool_calls: z.int().describe('Tool calls of them that failed.'),
    p95_voice_to_voice_ms: z
      .number()
      .optional()
      .describe('95th percentile of the time to an answer, in milliseconds; absent where there was none.'),
    analysis: z
      .object({
        results: z.int().describe('How many there are.'),
        value: z.number().optional().describe('Percent of true results, or mean of the numbers; absent without any.'),
      })
      .meta({ id: 'ReleaseAnalysis' })
      .describe('The figure of the item that `release.canary.abort_on.analysis` names.'),
  })
  .meta({ id: 'ReleaseFigures' });

const canary = z
  .object({ revision, percent: z.int().describe('How many of 100 new calls start with it.'), since: time.describe('When it began.') })
  .meta({ id: 'AgentCanary' });

const rolledBack = z
  .object({
    revision,
    aborted: z.boolean().describe('Its canary was worse than its limits; otherwise a person rolled it back.'),
    reason,
    requested_by: requestedBy,
    at: time.describe('When it happened.'),
  })
  .meta({ id: 'RolledBackRevision' });

export const releaseAnswer = z
  .object({
    ai_agent_id: z.string().describe('Id of the agent.'),
    serving_revision: revision,
    active_since: time.describe('Since when new calls start with `serving_revision`.'),
    canary: canary.optional().describe('What a part of the new calls start with; absent where no canary runs.'),
    rolled_back: z.array(rolledBack).describe('What is not served again before the agent asks for something else, the latest last.'),
  })
  .meta({ id: 'AgentRelease' });

const lastChange = z
  .object({
    change: z.enum(['served', 'pinned', 'canary_began', 'canary_ended', 'promoted', 'aborted', 'rolled_back']).describe('What happened.'),
    at: time.describe('When it happened.'),
    reason,
    requested_by: requestedBy,
  })
  .meta({ id: 'ReleaseChange' });

const createdAt = time.describe('When it was stored first.');

const listed = z
  .object({
    revision,
    created_at: createdAt,
    state: z
      .enum(['serving', 'canary', 'rolled_back', 'superseded', 'not_served'])
      .describe('`not_served`: stored, because its tests run or did not let it through.'),
    last_change: lastChange.optional().describe('The last that happened to it; absent where it never served.'),
    figures: figures.describe('How its calls went; of a canary, since it began.'),
  })
  .meta({ id: 'AgentRevision' });

export const revisionList = listOf(listed, 'AgentRevisionList');

export const revisionAnswer = z
  .object({
    revision,
    created_at: createdAt,
    configuration: z
      .unknown()
      .describe('What calls start with, as the operator compiled it from the Agent and its tools. Secrets appear by name only.'),
  })
  .meta({ id: 'AgentRevisionDetails' });

const givenReason = z.string().max(1000).nullish().describe('For the history and the event.');

const givenRevision = (meaning: string) =>
  z
    .string()
    .regex(/^[0-9a-f]{8,64}$/)
    .nullish()
    .describe(meaning);

export const rollbackBody = z
  .object({
    revision: givenRevision(
      'One that has served, or the first 8 or more digits of it. Where absent a canary ends or, without one, what served before serves again.',
    ),
    reason: givenReason,
  })
  .meta({ id: 'AgentRollback' });

export const promotionBody = z
  .object({
    revision: givenRevision(
      'The canary or one that was rolled back, by the first 8 or more digits of it. Where absent the canary or, without one, the last that was rolled back.',
    ),
    reason: givenReason,
  })
  .meta({ id: 'AgentPromotion' });
