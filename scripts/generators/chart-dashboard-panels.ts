/** Defines the panels of the dashboards, and their queries to Prometheus. */
import { type Dashboard, ofRole, quantile, rate, SELECTED, slowest } from './chart-dashboard-queries.ts';
import { callDashboard } from './chart-call-dashboard.ts';

export const dashboards: readonly Dashboard[] = [
  {
    name: 'overview',
    title: 'Parley / Overview',
    about: 'Whether everything is there and works.',
    rows: [
      {
        title: 'Now',
        panels: [
          {
            title: 'Live calls',
            about: 'Calls that are talking now, of all voice pods.',
            stat: true,
            lines: [[`sum(parley_voice_calls{${SELECTED}})`, 'calls']],
          },
          {
            title: 'Operators that lead',
            about: 'Exactly one is right. 0: nothing is reconciled; 2 for more than a moment: two releases share a Lease.',
            stat: true,
            lines: [[`sum(leader_election_master_status{${SELECTED}})`, 'leaders']],
          },
          {
            title: 'Resources that are not Ready',
            about: 'Objects with Ready=False. `kubectl get parley -A` shows which, `parley explain` why.',
            stat: true,
            lines: [[`sum(max by (kind) (parley_objects{${SELECTED},ready="False"}))`, 'not Ready']],
          },
          {
            title: 'Oldest event that waits',
            about:
              'Age of the oldest event that no subscriber has yet. Above a minute something holds up deliveries; see the dashboard of webhooks.',
            stat: true,
            unit: 's',
            lines: [[`max(parley_webhook_oldest_seconds{${SELECTED}})`, 'oldest']],
          },
        ],
      },
      {
        title: 'REST API',
        panels: [
          {
            title: 'Requests by status',
            about: 'Answers of the REST API. 5xx are ours; 429 are limits; other 4xx are mistakes of clients.',
            unit: 'reqps',
            lines: [[rate('http_requests_total', 'status'), '{{status}}']],
          },
          {
            title: 'Time for a request',
            about: 'From the first byte of a request to the last of its answer: median and slowest hundredth.',
            unit: 's',
            lines: [
              [quantile(0.5, 'http_request_duration_seconds'), 'p50'],
              [quantile(0.99, 'http_request_duration_seconds'), 'p99'],
            ],
          },
        ],
      },
      {
        title: 'Processes',
        panels: [
          {
            title: 'Pods that answer',
            about: 'Pods of each role whose metrics Prometheus can read.',
            lines: [[`sum by (job) (up{${SELECTED}})`, '{{job}}']],
          },
          {
            title: 'Processor time',
            about: 'Cores that each role uses, all pods together.',
            unit: 'short',
            lines: [[`sum by (job) (rate(process_cpu_seconds_total{${SELECTED}}[$__rate_interval]))`, '{{job}}']],
          },
          {
            title: 'Memory',
            about: 'Resident memory of each role, all pods together.',
            unit: 'bytes',
            lines: [[`sum by (job) (process_resident_memory_bytes{${SELECTED}})`, '{{job}}']],
          },
          {
            title: 'Event loop: wait of what is due (p99)',
            about: 'How late timers and answers are within a process. Above 0.1 s a pod has too much to do.',
            unit: 's',
            lines: [[`max by (job) (nodejs_eventloop_lag_p99_seconds{${SELECTED}})`, '{{job}}']],
          },
          {
            title: 'Connections to Postgres',
            about: 'Open connections by state. Any that are waiting for long mean a pool that is too small, or a slow database.',
            lines: [[`sum by (job, state) (parley_database_connections{${SELECTED}})`, '{{job}} {{state}}']],
          },
        ],
      },
    ],
  },
  {
    name: 'control-plane',
    title: 'Parley / Control plane',
    about: 'The operator, and how the roles speak to the API server.',
    rows: [
      {
        title: 'Resources',
        panels: [
          {
            title: 'Objects by Ready',
            about: 'Objects of each kind by the status of Ready; Unknown are suspended, empty ones not seen yet.',
            lines: [[`max by (kind, ready) (parley_objects{${SELECTED}})`, '{{kind}} {{ready}}']],
          },
          {
            title: 'From a change to Ready',
            about: 'From the change of an object to Ready=True, by kind.',
            unit: 's',
            lines: slowest('parley_time_to_ready_seconds', 'kind'),
          },
        ],
      },
      {
        title: 'Reconciles',
        panels: [
          {
            title: 'Reconciles',
            about: 'By outcome. error: tried again later; requeue_after: another look was asked for.',
            unit: 'ops',
            lines: [[rate('controller_runtime_reconcile_total', 'controller, result'), '{{controller}} {{result}}']],
          },
          {
            title: 'Reconciles that fail',
            about: 'By kind. Each is tried again, and says in the log of the operator why it failed.',
            unit: 'ops',
            lines: [[rate('controller_runtime_reconcile_errors_total', 'controller'), '{{controller}}']],
          },
          {
            title: 'Reconcile that runs longest',
            about: 'By kind: how long the oldest one that has begun has been at work. Minutes mean that something does not answer.',
            unit: 's',
            lines: [[`max by (name) (workqueue_longest_running_processor_seconds{${SELECTED}})`, '{{name}}']],
          },
          {
            title: 'Time for a reconcile',
            about: 'Of one object, by kind: median and slowest hundredth.',
            unit: 's',
            lines: slowest('controller_runtime_reconcile_time_seconds', 'controller'),
          },
          {
            title: 'Objects that wait',
            about: 'Keys in the queue of each kind. It empties within seconds after a start.',
            lines: [[`max by (name) (workqueue_depth{${SELECTED}})`, '{{name}}']],
          },
          {
            title: 'Wait before a reconcile',
            about: 'How long a key is in the queue before its turn.',
            unit: 's',
            lines: slowest('workqueue_queue_duration_seconds', 'name'),
          },
          {
            title: 'Statuses written',
            about: 'Writes of status. At rest there are none.',
            unit: 'ops',
            lines: [[rate('parley_status_writes_total', 'kind'), '{{kind}}']],
          },
        ],
      },
      {
        title: 'API server',
        panels: [
          {
            title: 'Requests to the API server',
            about: 'By role and answer. 429 and 5xx: the API server is overloaded.',
            unit: 'reqps',
            lines: [[rate('rest_client_requests_total', 'job, code'), '{{job}} {{code}}']],
          },
          {
            title: 'Silence of the API server',
            about: 'Since anything was last heard on a watch. Minutes of silence mean a watch that is stuck.',
            unit: 's',
            lines: [[`max by (job, resource) (informer_last_contact_seconds{${SELECTED}})`, '{{job}} {{resource}}']],
          },
          {
            title: 'Objects in caches',
            about: 'What each role keeps in memory, by resource.',
            lines: [[`sum by (job, resource) (informer_objects{${SELECTED}})`, '{{job}} {{resource}}']],
          },
        ],
      },
    ],
  },
  {
    name: 'api',
    title: 'Parley / REST API',
    about: 'Requests, errors, time and limits.',
    rows: [
      {
        title: 'Requests',
        panels: [
          {
            title: 'Requests by route',
            about: 'Requests that were answered, by method and route.',
            unit: 'reqps',
            lines: [[rate('http_requests_total', 'method, route'), '{{method}} {{route}}']],
          },
          {
            title: 'Errors',
            about: 'Answers with 5xx. The log has one line for each, with the reason.',
            unit: 'reqps',
            lines: [[rate('http_requests_total', 'status, route', ',status=~"5.."'), '{{status}} {{route}}']],
          },
          {
            title: 'Time by route (p99)',
            about: 'The slowest hundredth of each route.',
            unit: 's',
            lines: [[quantile(0.99, 'http_request_duration_seconds', 'route'), '{{route}}']],
          },
          {
            title: 'Turned away by a limit',
            about: 'Requests answered with 429, by class of limit.',
            unit: 'reqps',
            lines: [[rate('parley_rate_limited_total', 'class'), '{{class}}']],
          },
        ],
      },
      {
        title: 'What it needs',
        panels: [
          {
            title: 'API server reachable',
            about: '1 while this pod reaches the API server. At 0 it answers from its cache, and refuses writes.',
            lines: [[`min by (pod) (parley_kubernetes_reachable{${SELECTED}})`, '{{pod}}']],
          },
          {
            title: 'Connections to Postgres',
            about: 'Open connections of each pod by state.',
            lines: [[`sum by (pod, state) (parley_database_connections{${ofRole('api')}})`, '{{pod}} {{state}}']],
          },
        ],
      },
    ],
  },
  {
    name: 'webhooks',
    title: 'Parley / Webhooks',
    about: 'Events on their way to subscribers.',
    rows: [
      {
        title: 'What waits',
        panels: [
          {
            title: 'What waits',
            about: 'Deliveries by state: due now, waiting for a retry, or parked with a failing endpoint.',
            lines: [[`max by (state) (parley_webhook_backlog{${SELECTED}})`, '{{state}}']],
          },
          {
            title: 'Oldest that waits',
            about: 'Age of the oldest event before the relay, and of the oldest delivery that is due.',
            unit: 's',
            lines: [[`max by (of) (parley_webhook_oldest_seconds{${SELECTED}})`, '{{of}}']],
          },
        ],
      },
      {
        title: 'Deliveries',
        panels: [
          {
            title: 'Attempts by outcome',
            about: 'Requests to endpoints by outcome.',
            unit: 'ops',
            lines: [[rate('parley_webhook_attempts_total', 'outcome'), '{{outcome}}']],
          },
          {
            title: 'Deliveries that ended',
            about: 'For good: succeeded, failed after all retries, or cancelled.',
            unit: 'ops',
            lines: [[rate('parley_webhook_deliveries_total', 'state'), '{{state}}']],
          },
          {
            title: 'From the event to its endpoint',
            about: 'From the commit of an event to the answer of its endpoint, for deliveries without a retry.',
            unit: 's',
            lines: [
              [quantile(0.5, 'parley_webhook_delivery_seconds'), 'p50'],
              [quantile(0.99, 'parley_webhook_delivery_seconds'), 'p99'],
            ],
          },
          {
            title: 'Endpoints that are left alone',
            about: 'Circuit breakers by state: Open gets one delivery now and then, HalfOpen is being tried.',
            lines: [[`max by (state) (parley_webhook_breakers{${SELECTED}})`, '{{state}}']],
          },
        ],
      },
      {
        title: 'Dispatchers',
        panels: [
          {
            title: 'Under way',
            about: 'What is in memory now, by stage.',
            lines: [[`sum by (stage) (parley_webhook_in_flight{${SELECTED}})`, '{{stage}}']],
          },
          {
            title: 'Events relayed',
            about: 'Events for which deliveries were made.',
            unit: 'ops',
            lines: [[`sum(rate(parley_webhook_relayed_events_total{${SELECTED}}[$__rate_interval]))`, 'events']],
          },
        ],
      },
    ],
  },
  {
    name: 'knowledge',
    title: 'Parley / Knowledge bases',
    about: 'Documents that are taken up, and searches.',
    rows: [
      {
        title: 'Documents',
        panels: [
          {
            title: 'Documents that ended',
            about: 'Documents by outcome: completed, or failed, with the reason in the document.',
            unit: 'ops',
            lines: [[rate('parley_documents_ended_total', 'outcome'), '{{outcome}}']],
          },
          {
            title: 'Time for a stage',
            about: 'Of the ingestion of a document: median and slowest hundredth.',
            unit: 's',
            lines: slowest('parley_ingestion_stage_seconds', 'stage'),
          },
          {
            title: 'Time to read a file (p99)',
            about: 'Parsing, by the ending of the file.',
            unit: 's',
            lines: [[quantile(0.99, 'parley_parse_seconds', 'extension'), '{{extension}}']],
          },
          {
            title: 'Files being read',
            about: 'Parser processes of each worker.',
            lines: [[`sum by (pod) (parley_parsers_running{${SELECTED}})`, '{{pod}}']],
          },
        ],
      },
      {
        title: 'Embeddings',
        panels: [
          {
            title: 'Requests to embedding servers',
            about: 'By profile and outcome.',
            unit: 'reqps',
            lines: [[rate('parley_embedding_request_seconds_count', 'profile, outcome'), '{{profile}} {{outcome}}']],
          },
          {
            title: 'Time for an embedding request',
            about: 'By profile: median and slowest hundredth.',
            unit: 's',
            lines: slowest('parley_embedding_request_seconds', 'profile'),
          },
        ],
      },
      {
        title: 'Vector store',
        panels: [
          {
            title: 'Time in the vector store',
            about: 'By operation: median and slowest hundredth.',
            unit: 's',
            lines: slowest('parley_vector_store_seconds', 'operation'),
          },
          {
            title: 'Calls of the vector store',
            about: 'By operation and outcome.',
            unit: 'ops',
            lines: [[rate('parley_vector_store_seconds_count', 'operation, outcome'), '{{operation}} {{outcome}}']],
          },
        ],
      },
    ],
  },
  callDashboard,
];
