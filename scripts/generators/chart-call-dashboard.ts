/** Defines the dashboard of calls, with how models answer in them, and what they use and cost. */
import { anHour, type Dashboard, ofRole, quantile, rate, SELECTED, type Panel } from './chart-dashboard-queries.ts';

const MODEL = 'gen_ai_operation_name, gen_ai_request_model';
const LEGEND = '{{gen_ai_operation_name}} {{gen_ai_request_model}}';

/** Shows how models answer. */
const modelPanels: readonly Panel[] = [
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
const costPanels: readonly Panel[] = [
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

export const callDashboard: Dashboard = {
  name: 'calls',
  title: 'Parley / Calls',
  about: 'Live calls and the room that is left.',
  rows: [
    {
      title: 'Calls',
      panels: [
        { title: 'Live calls', about: 'Calls that are talking now.', lines: [[`sum(parley_voice_calls{${SELECTED}})`, 'all']] },
        {
          title: 'Live calls by pod',
          about: 'A pod takes up to PARLEY_VOICE_CALLS. One that stops keeps its calls until they end.',
          lines: [[`sum by (pod) (parley_voice_calls{${SELECTED}})`, '{{pod}}']],
        },
        {
          title: 'Calls ended by the worker',
          about: 'Calls whose voice pod is gone, or that no user joined, by reason.',
          unit: 'ops',
          lines: [[rate('parley_calls_reaped_total', 'reason'), '{{reason}}']],
        },
      ],
    },
    {
      title: 'Voice pods',
      panels: [
        {
          title: 'Processor time of voice',
          about: 'Cores that each voice pod uses. Near its request the next calls will sound worse.',
          lines: [[`sum by (pod) (rate(process_cpu_seconds_total{${ofRole('voice')}}[$__rate_interval]))`, '{{pod}}']],
        },
        {
          title: 'Memory of voice',
          about: 'Resident memory of each voice pod.',
          unit: 'bytes',
          lines: [[`sum by (pod) (process_resident_memory_bytes{${ofRole('voice')}})`, '{{pod}}']],
        },
      ],
    },
    {
      title: 'Models',
      panels: modelPanels,
    },
    { title: 'Usage and cost', panels: costPanels },
    {
      title: 'Releases',
      panels: [
        {
          title: 'Releases by the operator',
          about: 'What the operator did with releases: begun, promoted or aborted.',
          lines: [[`sum by (change) (increase(parley_agent_releases_total{${SELECTED}}[$__rate_interval]))`, '{{change}}']],
        },
        {
          title: 'Runs of agent tests',
          about: 'By what asked for them and verdict; error: they could not be evaluated.',
          lines: [
            [
              `sum by (trigger, verdict) (increase(parley_agent_test_runs_total{${SELECTED}}[$__rate_interval]))`,
              '{{trigger}} {{verdict}}',
            ],
          ],
        },
        {
          title: 'Canaries that run',
          about: 'Agents of which some calls go to a new revision.',
          lines: [[`max(parley_agent_canaries{${SELECTED}})`, 'canaries']],
        },
        {
          title: 'Calls that end as error: canaries and what serves next to them',
          about: 'Share of calls that ended as an error. Above `abortOn.errorPercent` the operator takes the canary back.',
          unit: 'percentunit',
          lines: [
            [
              `max by (slot) (parley_agent_release_errors{${SELECTED}}) / (max by (slot) (parley_agent_release_calls{${SELECTED}}) > 0)`,
              '{{slot}}',
            ],
          ],
        },
        {
          title: 'Voice to voice (p95): canaries and what serves next to them',
          about: "From the end of the user's speech to the agent's first sound, of the slowest twentieth.",
          unit: 's',
          lines: [[`max by (slot) (parley_agent_release_voice_to_voice_seconds{${SELECTED}})`, '{{slot}}']],
        },
      ],
    },
  ],
};
