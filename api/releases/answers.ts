/** Releases in REST. */
import { z } from 'zod';

import { listOf } from '../codec/answers.ts';

const revision = z.string().describe('SHA-256 of the configuration, in hex.');
const time = z.string().meta({ format: 'date-time' });
const REASON = 'Why, as it was given or found; null where nothing is known.';
const REQUESTED_BY = 'Who asked for it; null where the operator decided.';

const figures = z
  .object({
    calls: z.int().describe('That are over, of the latest 1,000.'),
    errors: z.int().describe('Of them: ended as error.'),
    errors_by_reason: z.record(z.string(), z.int()).describe('By `call_finish_reason`.'),
    failed_tool_calls: z.int().describe('Calls of tools that failed, in all these calls.'),
    p95_voice_to_voice_ms: z.number().nullable().describe('95th percentile over all answers; null without any.'),
    analysis: z
      .object({
        results: z.int().describe('How many calls have a result.'),
        value: z.number().nullable().describe('Percent of true results, or mean of the numbers.'),
      })
      .describe('Of the item that `release.canary.abort_on.analysis` names; of a canary, of its calls alone, as are the others.')
      .meta({ id: 'ReleaseAnalysisFigures' }),
  })
  .meta({ id: 'ReleaseFigures', description: 'What the calls of the revision came to.' });

export const releaseAnswer = z
  .object({
    ai_agent_id: z.string().describe('Name of the Agent resource in the namespace of the organisation.'),
    serving_revision: revision,
    active_since: time.describe('Since when `serving_revision` serves.'),
    canary: z
      .object({ revision, percent: z.int().describe('Of 100 new calls.'), since: time.describe('Since when it gets calls.') })
      .meta({ id: 'RunningCanary' })
      .nullable()
      .describe('What a part of the new calls start with; null where no canary runs.'),
    rolled_back: z
      .array(
        z
          .object({
            revision,
            aborted: z.boolean().describe('Its canary was worse than its limits; otherwise a person rolled it back.'),
            reason: z.string().nullable().describe(REASON),
            requested_by: z.string().nullable().describe(REQUESTED_BY),
            at: time.describe('When it was rolled back.'),
          })
          .meta({ id: 'RolledBackRevision' }),
      )
      .describe('What is not served again before the agent asks for something else, the latest last.'),
  })
  .meta({ id: 'AgentRelease' });

const change = z
  .enum(['served', 'pinned', 'canary_began', 'canary_ended', 'promoted', 'aborted', 'rolled_back'])
  .describe('What happened to the revision.');

const listed = z
  .object({
    revision,
    created_at: time.describe('When it was stored.'),
    state: z
      .enum(['serving', 'canary', 'rolled_back', 'superseded', 'not_served'])
      .describe('`not_served`: stored, because its tests run or did not let it through.'),
    last_change: z
      .object({
        change,
        at: time.describe('When it happened.'),
        reason: z.string().nullable().describe(REASON),
        requested_by: z.string().nullable().describe(REQUESTED_BY),
      })
      .meta({ id: 'RevisionChange' })
      .nullable()
      .describe('The last that happened to it; null where it never served.'),
    figures,
  })
  .meta({ id: 'AgentRevision' });

export const revisionList = listOf(listed, 'AgentRevisionList');

export const revisionAnswer = z
  .object({
    revision,
    created_at: time.describe('When it was stored.'),
    configuration: z
      .unknown()
      .describe('What calls start with, as the operator compiled it from the Agent and its tools. Secrets appear by name only.'),
  })
  .meta({ id: 'AgentRevisionDetails' });

const reason = z.string().max(1000).nullish().describe('For the history and the event.');

export const rollbackBody = z
  .object({
    revision: z
      .string()
      .regex(/^[0-9a-f]{8,64}$/)
      .nullish()
      .describe(
        'One that has served, or the first 8 or more digits of it. Where absent a canary ends or, without one, what served before serves again.',
      ),
    reason,
  })
  .meta({ id: 'AgentRollback' });

export const promotionBody = z.object({ reason }).meta({ id: 'AgentPromotion' });
