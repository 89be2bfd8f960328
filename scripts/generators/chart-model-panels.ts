/** Defines the panels of models: how they answer, and what they use and cost. */
import { anHour, quantile, rate, type Panel } from './chart-dashboard-queries.ts';

const MODEL = 'gen_ai_operation_name, gen_ai_request_model';
const LEGEND = '{{gen_ai_operation_name}} {{gen_ai_request_model}}';

/** Shows how models answer. */
export const modelPanels: readonly Panel[] = [
  {
    title: 'Time for a request to a model',
    about: 'Of answers (chat) and speech, by model: median and slowest hundredth. Cancelled requests are not in it.',
    unit: 's',
    lines: [
      [quantile(0.5, 'gen_ai_client_operation_duration_seconds', MODEL), `p50 ${LEGEND}`],
      [quantile(0.99, 'gen_ai_client_operation_duration_seconds', MODEL), `p99 ${LEGEND}`],
    ],
  },
  {
    title: 'Time to the first part of an answer',
    about: 'Of streamed answers and speech, by model: what callers wait for. A fallback takes over where it is late.',
    unit: 's',
    lines: [
      [quantile(0.5, 'gen_ai_client_operation_time_to_first_chunk_seconds', MODEL), `p50 ${LEGEND}`],
      [quantile(0.99, 'gen_ai_client_operation_time_to_first_chunk_seconds', MODEL), `p99 ${LEGEND}`],
    ],
  },
  {
    title: 'Requests to models that fail',
    about: 'By provider and reason. Any that stay need a look at the key, the limits or the provider.',
    unit: 'ops',
    lines: [
      [
        rate('gen_ai_client_operation_duration_seconds_count', 'gen_ai_provider_name, error_type', ',error_type!=""'),
        '{{gen_ai_provider_name}} {{error_type}}',
      ],
    ],
  },
  {
    title: 'Tokens of a request',
    about: 'Median by model: input, cached ones included, and output. A growing input is a prompt or a history that grows.',
    lines: [
      [
        quantile(0.5, 'gen_ai_client_token_usage', 'gen_ai_request_model, gen_ai_token_type'),
        '{{gen_ai_request_model}} {{gen_ai_token_type}}',
      ],
    ],
  },
];

/** Shows what calls use and cost. */
export const costPanels: readonly Panel[] = [
  {
    title: 'Cost by agent, an hour',
    about: 'What calls cost with the prices of PARLEY_PRICES, as it is now, for an hour. Models without a price are not in it.',
    lines: [[anHour('parley_usage_cost_total', 'org, agent, currency'), '{{org}}/{{agent}} {{currency}}']],
  },
  {
    title: 'Cost by model, an hour',
    about: 'The same by what the model does, provider and model.',
    lines: [[anHour('parley_usage_cost_total', 'kind, provider, model, currency'), '{{kind}} {{provider}} {{model}} {{currency}}']],
  },
  {
    title: 'Tokens a second',
    about:
      'Of language models: input without what the provider had cached, cached input, output without reasoning, and reasoning; of searches: embedding and rerank.',
    unit: 'ops',
    lines: [[rate('parley_usage_tokens_total', 'provider, model, kind'), '{{provider}} {{model}} {{kind}}']],
  },
  {
    title: 'Characters and audio a second',
    about: 'Characters that voices say, and seconds of audio to speech to text and from voices.',
    unit: 'ops',
    lines: [
      [rate('parley_usage_characters_total', 'provider, model'), 'characters {{provider}} {{model}}'],
      [rate('parley_usage_audio_seconds_total', 'kind, provider, model'), 'seconds {{kind}} {{provider}} {{model}}'],
    ],
  },
];
