/** Translates `release`, which says how new revisions of an agent come into service, between REST and the resource. */
import { z } from 'zod';

import { agentKind, type AgentSpec } from '../../crds/index.ts';
import { milliseconds, number, seconds, whole } from '../codec/conversions.ts';
import type { Conversion } from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { schemaAt } from '../codec/rest-schema.ts';

const { field, group } = fieldsOf(schemaAt(agentKind.spec, 'release'));

const analysis = group(
  {
    name: field('canary.abortOn.analysis.name', { text: 'Of `post_call_analysis`; its type is boolean or number.' }),
    below: field('canary.abortOn.analysis.below', { as: number }),
  },
  { name: 'CanaryAnalysisLimit', path: 'canary.abortOn.analysis' },
);

const abortOn = group(
  {
    error_rate: field('canary.abortOn.errorPercent'),
    p95_voice_to_voice_ms: field('canary.abortOn.p95VoiceToVoice', { as: milliseconds }),
    analysis,
  },
  {
    name: 'CanaryLimits',
    required: false,
    about: 'When the new revision is given up, and all new calls start with the former one again.',
  },
);

const canary = group(
  {
    percent: field('canary.percent'),
    for_seconds: field('canary.for', { as: seconds }),
    deadline_seconds: field('canary.deadline', { as: seconds }),
    min_calls: field('canary.minCalls'),
    abort_on: abortOn,
  },
  { name: 'Canary', path: 'canary' },
);

type Pin = NonNullable<NonNullable<AgentSpec['release']>['pin']>;

/** Takes the beginning of a digest; whoever writes the resource completes it. What happens where it is missing stays as it is. */
const byRevision: Conversion<Pin, string> = {
  body: () => z.string().regex(/^[0-9a-f]{8,64}$/),
  answer: () => z.string(),
  read: ({ revision }) => revision,
  write: (revision, { stored }) => ({ ...stored, revision }),
  below: { '.revision': '' },
};

const pin = field('pin', { as: byRevision, text: 'Serve exactly this revision: its hash, or the first 8 or more digits of it.' });

export const release = fieldsOf(agentKind.spec).field('release', {
  as: whole({ pin, canary }, { name: 'ReleaseSettings' }),
  text: {
    body: 'How new revisions come into service: all calls at once where absent.',
    answer: 'How new revisions come into service; absent where all calls get them at once.',
  },
});
