/** How new revisions of an agent come into service. */
import { z } from 'zod';

import { cel, decimal, duration, name, text } from './schema.ts';

const MAX_CANARY_CALLS = 1000;

/** A revision by its whole digest: a part of one could come to mean another. */
const revision = () => text(64).regex(/^[0-9a-f]{64}$/);

const abortOn = cel(
  z.object({
    errorPercent: z.int().min(0).max(100).optional().describe('Percent of its calls that end as error: abort above it.'),
    p95VoiceToVoice: duration('1ms', '60s')
      .optional()
      .describe('95th percentile of the time from the end of what the user says to the first sound of the answer: abort above it.'),
    analysis: z
      .object({
        name: name(128).describe('Of spec.postCallAnalysis; its type is Boolean or Number.'),
        below: decimal(-1_000_000, 1_000_000).describe('Percent of true results, or mean of the numbers: abort below it.'),
      })
      .optional()
      .describe('What its calls were found to be afterwards.'),
  }),
  {
    rule: 'has(self.errorPercent) || has(self.p95VoiceToVoice) || has(self.analysis)',
    message: 'set at least one of errorPercent, p95VoiceToVoice and analysis, or remove abortOn',
  },
);

export const release = z.object({
  pin: z
    .object({
      revision: revision().describe('The whole digest of a revision that has served, or been tried.'),
      onMissing: z
        .enum(['Hold', 'Serve'])
        .default('Hold')
        .describe(
          'What happens where no such revision has served, as in another cluster. Hold: what served before goes on, and nothing new comes into service; Serve: the pin is passed over.',
        ),
    })
    .optional()
    .describe('Serve exactly this revision, whatever else the spec asks for.'),
  skipTests: z
    .object({
      revision: revision().describe('The whole digest of the revision, as in status.desiredRevision.'),
      reason: name(1024).describe('Why; the condition Tested and an Event repeat it.'),
    })
    .optional()
    .describe('Put this one revision into service whatever its required AgentTests say.'),
  canary: z
    .object({
      percent: z.int().min(1).max(99).describe('How many of 100 new calls start with the new revision.'),
      for: duration('1s', '168h').default('30m').describe('How long it serves them at least, before it serves all.'),
      deadline: duration('1m', '720h')
        .default('168h')
        .describe('The canary is aborted if by then calls or a figure are missing that would promote it.'),
      minCalls: z
        .int()
        .min(1)
        .max(MAX_CANARY_CALLS)
        .default(20)
        .describe('How many of its calls have to be over before it is promoted or aborted.'),
      abortOn: abortOn
        .optional()
        .describe(
          'When the new revision is given up, and all new calls start with the former one again; only at the deadline where absent.',
        ),
    })
    .optional()
    .describe('New revisions get a part of the new calls first. Where absent they get all of them at once.'),
});
