/** Translates `release`, which says how new revisions of an agent come into service, between REST and the resource. */
import { agentKind } from '../../crds/index.ts';
import { seconds, whole } from '../codec/conversions.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { schemaAt } from '../codec/rest-schema.ts';

const { field, group } = fieldsOf(schemaAt(agentKind.spec, 'release'));

const analysis = group(
  {
    name: field('canary.abortOn.analysis.name', { text: 'Of `post_call_analysis`; its type is boolean or number.' }),
    below: field('canary.abortOn.analysis.below'),
  },
  { name: 'CanaryAnalysisLimit', path: 'canary.abortOn.analysis' },
);

const abortOn = group(
  {
    error_rate: field('canary.abortOn.errorRate'),
    p95_voice_to_voice_ms: field('canary.abortOn.p95VoiceToVoiceMs'),
    analysis,
  },
  { name: 'CanaryLimits', path: 'canary.abortOn' },
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

const pin = field('pin', { text: 'Serve exactly this revision: its hash, or the first 8 or more digits of it.' });

export const release = fieldsOf(agentKind.spec).field('release', {
  as: whole({ pin, canary }, { name: 'ReleaseSettings' }),
  text: {
    body: 'How new revisions come into service: all calls at once where absent.',
    answer: 'How new revisions come into service; absent where all calls get them at once.',
  },
});
