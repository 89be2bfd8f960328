/** `release` in REST: how new revisions of an agent come into service. Replaced as a whole. */
import { z } from 'zod';

import { MAX_CANARY_CALLS, type AgentSpec } from '../../crds/index.ts';
import { durationOfSeconds, secondsOf } from '../codec/duration.ts';
import { field, type Conversion } from '../codec/fields.ts';
import { present } from '../codec/present.ts';
import { named } from '../codec/schemas.ts';

type Release = NonNullable<AgentSpec['release']>;

const DAY_SECONDS = 86_400;

const pin = z
  .string()
  .regex(/^[0-9a-f]{8,64}$/)
  .describe('Serve exactly this revision: its hash, or the first 8 or more digits of it.');
const percent = z.int().min(1).max(99).describe('How many of 100 new calls start with a new revision.');
const errorRate = z.number().min(0).max(100).describe('Percent of its calls that end as error: abort above it.');
const p95 = z.int().min(1).max(60_000).describe('95th percentile of voice to voice, in milliseconds: abort above it.');
const analysisLimit = (id: string) =>
  z
    .object({
      name: named(128).describe('Of `post_call_analysis`; its type is boolean or number.'),
      below: z.number().min(-1_000_000).max(1_000_000).describe('Percent of true results, or mean of the numbers: abort below it.'),
    })
    .meta({ id, description: 'A result of the post-call analysis that a canary may not fall below.' });
const CANARY =
  'Give a new revision a part of the calls first, and abort it where it is worse than its limits; all calls at once where absent.';
const ABORT_ON = 'Limits: a canary that is worse than one of them is aborted.';

const body = z
  .object({
    pin: pin.nullish(),
    canary: z
      .object({
        percent,
        for_seconds: z
          .number()
          .min(1)
          .max(7 * DAY_SECONDS)
          .nullish()
          .describe('How long at least before it serves all calls; 1800 by default.'),
        deadline_seconds: z
          .number()
          .min(60)
          .max(30 * DAY_SECONDS)
          .nullish()
          .describe('The canary is aborted if by then calls or a figure are missing that would promote it; 604800 by default.'),
        min_calls: z
          .int()
          .min(1)
          .max(MAX_CANARY_CALLS)
          .nullish()
          .describe('How many of its calls have to be over before it is promoted or aborted; 20 by default.'),
        abort_on: z
          .object({
            error_rate: errorRate.nullish(),
            p95_voice_to_voice_ms: p95.nullish(),
            analysis: analysisLimit('CanaryAnalysisLimitCreate').nullish(),
          })
          .meta({ id: 'CanaryLimitsCreate', description: ABORT_ON })
          .nullish(),
      })
      .meta({ id: 'CanaryCreate', description: CANARY })
      .nullish(),
  })
  .meta({ id: 'ReleaseSettingsCreate' });

const answer = z
  .object({
    pin: pin.optional(),
    canary: z
      .object({
        percent,
        for_seconds: z.number().describe('How long at least before it serves all calls, in seconds.'),
        deadline_seconds: z.number().describe('When it is aborted for want of calls or of a figure, in seconds.'),
        min_calls: z.int().describe('How many of its calls have to be over before it is promoted or aborted.'),
        abort_on: z
          .object({
            error_rate: errorRate.optional(),
            p95_voice_to_voice_ms: p95.optional(),
            analysis: analysisLimit('CanaryAnalysisLimit').optional(),
          })
          .meta({ id: 'CanaryLimits', description: ABORT_ON }),
      })
      .meta({ id: 'Canary', description: CANARY })
      .optional(),
  })
  .meta({ id: 'ReleaseSettings' });

const conversion: Conversion = {
  read: ({ pin: revision, canary }: Release) =>
    present({
      pin: revision,
      canary:
        canary &&
        present({
          percent: canary.percent,
          for_seconds: secondsOf(canary.for),
          deadline_seconds: secondsOf(canary.deadline),
          min_calls: canary.minCalls,
          abort_on: present({
            error_rate: canary.abortOn.errorRate,
            p95_voice_to_voice_ms: canary.abortOn.p95VoiceToVoiceMs,
            analysis: canary.abortOn.analysis,
          }),
        }),
    }),
  write: ({ pin: revision, canary }: z.output<typeof body>, { stored }) => {
    const { error_rate: rate, p95_voice_to_voice_ms: voiceToVoice, analysis: judged } = canary?.abort_on ?? {};
    const before = (stored as Release | undefined)?.canary;
    return present({
      pin: revision ?? undefined,
      canary:
        canary == null
          ? undefined
          : present({
              percent: canary.percent,
              for: canary.for_seconds == null ? undefined : durationOfSeconds(canary.for_seconds, before?.for),
              deadline: canary.deadline_seconds == null ? undefined : durationOfSeconds(canary.deadline_seconds, before?.deadline),
              minCalls: canary.min_calls ?? undefined,
              abortOn: present({
                errorRate: rate ?? undefined,
                p95VoiceToVoiceMs: voiceToVoice ?? undefined,
                analysis: judged ?? undefined,
              }),
            }),
    });
  },
  below: {
    '.pin': '.pin',
    '.canary.percent': '.canary.percent',
    '.canary.for': '.canary.for_seconds',
    '.canary.deadline': '.canary.deadline_seconds',
    '.canary.minCalls': '.canary.min_calls',
    '.canary.abortOn.errorRate': '.canary.abort_on.error_rate',
    '.canary.abortOn.p95VoiceToVoiceMs': '.canary.abort_on.p95_voice_to_voice_ms',
    '.canary.abortOn.analysis.name': '.canary.abort_on.analysis.name',
  },
};

export const release = field({
  path: 'release',
  as: conversion,
  create: body.nullish().describe('How new revisions come into service: all calls at once where absent.'),
  answer: answer.optional().describe('How new revisions come into service; absent where all calls get them at once.'),
});
