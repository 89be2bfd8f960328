import type { GeneratedFile } from '../../crds/generate.ts';
import { dashboards } from './chart-dashboard-panels.ts';
import type { Panel } from './chart-dashboard-queries.ts';
import { code, table } from './markdown.ts';

/**
 * One alert with its runbook. In `expr` stand $NAMESPACE for the namespace of the release, $NAME for the beginning of the names of its
 * Services (which are the label `job`), $VOICE_CALLS for the calls that a voice pod takes. One with $ROLE is there for each role that runs,
 * where the chart's own monitors collect.
 */
interface Alert {
  readonly alert: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly expr: string;
  readonly for: string;
  readonly summary: string;
  readonly description: string;
  /** Says what users notice. */
  readonly means: string;
  /** Says what to look at, and what helps. */
  readonly steps: readonly string[];
}

const EVERY = 'namespace="$NAMESPACE",job=~"$NAME-(operator|api|worker|dispatcher|voice)"';
const of = (role: string): string => `namespace="$NAMESPACE",job="$NAME-${role}"`;
/** Selects requests of clients. The kubelet and Prometheus ask more often, and their answers say nothing of how clients fare. */
const requests = `${of('api')},route!~"/healthz|/readyz|/metrics"`;

const alerts: readonly Alert[] = [
  {
    alert: 'ParleyDown',
    severity: 'critical',
    expr: `up{${EVERY}} == 0`,
    for: '5m',
    summary: 'A pod of {{ $labels.job }} does not answer',
    description: 'Prometheus has not been able to read the metrics of {{ $labels.pod }} for five minutes.',
    means: 'The other pods of the role go on. With the last pod of a role its work stands still: calls, requests, deliveries or changes.',
    steps: [
      '`kubectl describe pod` and `kubectl logs --previous`, both with `-n <namespace of the release>`: a process that stops says why in its last line, with the variable to set when its configuration is at fault.',
      'Killed for memory: raise `<role>.resources.limits.memory`.',
      'The pod runs and is Ready: the scrape is kept away. Look at `networkPolicy.metricsFrom`.',
    ],
  },
  {
    alert: 'ParleyRoleMissing',
    severity: 'critical',
    expr: `absent(up{${of('$ROLE')}})`,
    for: '5m',
    summary: 'There is no pod of {{ $labels.job }}',
    description: 'For five minutes Prometheus has known of no pod of {{ $labels.job }}, not even of one that does not answer.',
    means: 'The work of the role stands still: calls, requests, deliveries or changes.',
    steps: [
      '`kubectl get deployments,replicasets,pods -n <namespace of the release>` and `kubectl describe replicaset`: pods that are refused (quota, admission, a class or a ServiceAccount that is missing) are in its events alone.',
      'Scaled to nothing by hand: `kubectl scale deployment <name> --replicas=2`, or `helm upgrade`.',
      'The pods are there: the ServiceMonitor or PodMonitor is gone, or Prometheus does not select it (`metrics.serviceMonitor.labels`).',
    ],
  },
  {
    alert: 'ParleyNoLeader',
    severity: 'critical',
    expr: `sum(leader_election_master_status{${of('operator')}}) == 0`,
    for: '2m',
    summary: 'No operator leads',
    description: 'There are operators, and none of them holds the Lease.',
    means: 'Changed resources are stored and have no effect. Calls, searches and deliveries go on with what was there before.',
    steps: [
      '`kubectl get lease parley-operator` in the namespace of the release: who holds it, and since when?',
      'The log of an operator says what the API server refuses: permissions of the Role `…-lease`, or no connection.',
    ],
  },
  {
    alert: 'ParleyReconcileErrors',
    severity: 'warning',
    expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${of('operator')}}[10m])) > 0.1`,
    for: '15m',
    summary: 'Reconciles of {{ $labels.controller }} fail',
    description: 'More than one in ten seconds has failed for a quarter of an hour.',
    means: 'Some resources are not brought up to date; the operator retries each with growing delays.',
    steps: [
      'The log of the leading operator names the object and the error: `kubectl logs -n <namespace of the release> -l app.kubernetes.io/component=operator --tail=-1 | grep \'"level":"error"\'`.',
      'Postgres, Temporal or the media server unavailable: see their alerts.',
      '403 in the message: the role lacks a permission in that namespace. Is it among `organizations`?',
    ],
  },
  {
    alert: 'ParleyReconcileStuck',
    severity: 'warning',
    expr: `max by (name) (workqueue_longest_running_processor_seconds{${of('operator')}}) > 300`,
    for: '5m',
    summary: 'A reconcile of {{ $labels.name }} does not end',
    description: 'One has been running for {{ $value | humanizeDuration }}.',
    means: 'That object stays as it is. The others go on as long as there are free workers.',
    steps: [
      'Everything that a reconcile waits for has a limit: look for what is slow in `rest_client_request_duration_seconds` and `parley_database_connections`.',
      'Delete the leading pod: another one takes over within seconds. Report it with the log.',
    ],
  },
  {
    alert: 'ParleyQueueGrows',
    severity: 'warning',
    expr: `max by (name) (workqueue_depth{${of('operator')}}) > 100`,
    for: '15m',
    summary: 'Changes of {{ $labels.name }} wait',
    description: '{{ $value }} objects have been waiting for the operator for a quarter of an hour.',
    means: 'Changes take longer to have an effect.',
    steps: [
      'After the start of an operator with many objects it goes down by itself.',
      'Else raise PARLEY_RECONCILE_CONCURRENCY and PARLEY_DATABASE_POOL, or look for a slow API server or database.',
    ],
  },
  {
    alert: 'ParleyResourcesNotReady',
    severity: 'info',
    expr: `max by (kind) (parley_objects{${of('operator')},ready="False"}) > 0`,
    for: '1h',
    summary: 'Some of {{ $labels.kind }} are not Ready',
    description: '{{ $value }} objects have not been Ready for an hour.',
    means: 'The organisations that they belong to see why in the status. An agent that was Ready before serves its last valid revision.',
    steps: [
      '`kubectl get parley -A | grep -v True`, then `parley explain <kind>/<name> -n <namespace>`: it says what is missing and what to do.',
    ],
  },
  {
    alert: 'ParleyCacheOld',
    severity: 'warning',
    expr: `max by (job, resource) (informer_last_contact_seconds{${EVERY}}) > 300`,
    for: '5m',
    summary: '{{ $labels.job }} gets no changes of {{ $labels.resource }}',
    description: 'The API server has sent nothing for {{ $value | humanizeDuration }}; a minute is usual.',
    means: 'Changes of these resources are not seen.',
    steps: [
      '403 in the log: a permission is missing. `kubectl auth can-i list <resource> --as=system:serviceaccount:<namespace>:<name>`.',
      'Else the connection: network policies (`networkPolicy.kubernetesApi`), proxies that hold back answers.',
    ],
  },
  {
    alert: 'ParleyKubernetesUnreachable',
    severity: 'warning',
    expr: `min(parley_kubernetes_reachable{${of('api')}}) == 0`,
    for: '2m',
    summary: 'The REST API does not reach the API server',
    description: 'Reading answers come from the cache, changes are answered with 503.',
    means: 'Resources can be read and not changed over REST. Calls, searches and deliveries go on.',
    steps: [
      'Is the API server there (`kubectl get --raw /readyz`)?',
      'Network policies: `networkPolicy.kubernetesApi` has to name its address and port.',
    ],
  },
  {
    alert: 'ParleyApiErrors',
    severity: 'critical',
    expr: `sum(rate(http_requests_total{${requests},status=~"5.."}[5m])) / sum(rate(http_requests_total{${requests}}[5m])) > 0.05`,
    for: '10m',
    summary: 'The REST API answers with errors',
    description: '{{ $value | humanizePercentage }} of the requests of the last minutes were answered with 5xx.',
    means: 'Clients get 500 or 503 and have to try again.',
    steps: [
      'Each answer has one line in the log, with the same `x-trace-id`: `kubectl logs -n <namespace of the release> -l app.kubernetes.io/component=api --tail=-1 | grep \'"status":50\'`.',
      '503: Postgres or the API server is unavailable. 500: a defect; report it with that line.',
    ],
  },
  {
    alert: 'ParleyApiSlow',
    severity: 'warning',
    expr: `histogram_quantile(0.99, sum by (le) (rate(http_request_duration_seconds_bucket{${requests}}[5m]))) > 2`,
    for: '15m',
    summary: 'The REST API is slow',
    description: 'One request in a hundred takes longer than {{ $value | humanizeDuration }}.',
    means: 'Clients wait.',
    steps: [
      'By route: `histogram_quantile(0.99, sum by (le, route) (rate(http_request_duration_seconds_bucket[5m])))`. The line of a request in the log says where its time went.',
      'Processor or memory at the limit: more pods (`api.autoscaling.maxReplicas`), more `resources`.',
    ],
  },
  {
    alert: 'ParleyDatabaseBusy',
    severity: 'warning',
    expr: `max by (job) (parley_database_connections{${EVERY},state="waiting"}) > 0`,
    for: '5m',
    summary: '{{ $labels.job }} waits for connections to Postgres',
    description: '{{ $value }} callers have been waiting for five minutes.',
    means: 'Everything that needs the database is slow.',
    steps: [
      'Slow statements in Postgres (`pg_stat_activity`): the application name is the role.',
      'Raise PARLEY_DATABASE_POOL, as far as `max_connections` of Postgres allows: pods × pool.',
    ],
  },
  {
    alert: 'ParleyDeliveriesLate',
    severity: 'critical',
    expr: `max by (of) (parley_webhook_oldest_seconds{${of('dispatcher')}}) > 120`,
    for: '10m',
    summary: 'Webhooks are late',
    description: 'What has been waiting for longest ({{ $labels.of }}) has done so for {{ $value | humanizeDuration }}.',
    means: 'Subscribers receive events later than they should. Nothing is lost: events stay in Postgres until they are delivered.',
    steps: [
      'Are there dispatchers, and are they ready? `/readyz` says what they miss.',
      'All subscribers of one endpoint: `parley_webhook_breakers`. An endpoint that only fails is left alone for a while.',
      '`parley webhooks` lists deliveries and their reasons.',
    ],
  },
  {
    alert: 'ParleyDeliveriesFail',
    severity: 'warning',
    expr: `sum(rate(parley_webhook_deliveries_total{namespace="$NAMESPACE",state="failed"}[15m])) / sum(rate(parley_webhook_deliveries_total{namespace="$NAMESPACE"}[15m])) > 0.2`,
    for: '30m',
    summary: 'Webhooks fail for good',
    description: '{{ $value | humanizePercentage }} of the deliveries that ended did so without success.',
    means: 'These subscribers have missed events. They can be sent again while their bodies are kept (PARLEY_EVENT_BODIES_KEEP_DAYS).',
    steps: [
      'By reason: `sum by (outcome) (rate(parley_webhook_attempts_total[15m]))`.',
      'Names that are not resolved, or connections that are refused, for all: network policies and PARLEY_EGRESS_DNS_SERVERS.',
    ],
  },
  {
    alert: 'ParleyIngestionFails',
    severity: 'warning',
    expr: `sum(increase(parley_documents_ended_total{${of('worker')},outcome!~"completed|cancelled"}[1h])) > 10`,
    for: '15m',
    summary: 'Documents are not ingested',
    description: '{{ $value | humanize }} documents have failed within an hour.',
    means: 'They are not found by searches; what was there before them stays.',
    steps: [
      "By reason: `sum by (outcome) (increase(parley_documents_ended_total[1h]))`. Some reasons are the document's, and its owner sees them.",
      'Failures of embedding or of the vector store: `parley_embedding_request_seconds_count` and `parley_vector_store_seconds_count` by `outcome`.',
    ],
  },
  {
    alert: 'ParleyScheduledTestsFail',
    severity: 'warning',
    expr: `sum(increase(parley_agent_test_runs_total{${of('worker')},trigger="schedule",verdict="failed"}[1h])) > 0`,
    for: '0m',
    summary: 'Agents fail tests that they have passed',
    description: '{{ $value | humanize }} scheduled runs of agent tests have failed within an hour.',
    means: 'Agents that were not changed fail their tests: a model, a knowledge base or a service of a tool has changed. They serve on.',
    steps: [
      '`kubectl get agenttests -A` shows which; `GET /v1/test-runs?state=finished` and the run itself show what was said.',
      'The tests fail again with `kubectl parley test agent/<name> --revision serving`: name another model, or correct the prompt.',
    ],
  },
  {
    alert: 'ParleyAgentTestsNotEvaluated',
    severity: 'warning',
    expr: `sum(increase(parley_agent_test_runs_total{${of('worker')},verdict="error"}[1h])) > 3`,
    for: '15m',
    summary: 'Tests of agents cannot be evaluated',
    description: '{{ $value | humanize }} runs of agent tests had the verdict error within an hour.',
    means: 'Revisions that wait for required tests are not served; what serves stays.',
    steps: [
      'The condition `Tested` of the agent and `status.results` of the AgentTest have the reason: a provider or a judge that is unavailable, a mock of a tool that the agent does not have.',
      'In audio mode: is there a media server, and have the voice roles room for calls?',
    ],
  },
  {
    alert: 'ParleyCallsLost',
    severity: 'critical',
    // A web call that no user joins ends in the same way: a browser tab that was closed.
    expr: `(sum(increase(parley_calls_reaped_total{${of('worker')},reason!="user_connection_failure"}[15m])) or vector(0)) + (sum(increase(parley_calls_lost_total{${of('api')}}[15m])) or vector(0)) > 0`,
    for: '0m',
    summary: 'Calls ended without a hang-up',
    description: '{{ $value | humanize }} calls were ended because nothing else did, within a quarter of an hour.',
    means: 'Callers heard silence or were cut off. Web calls that no user joined are not counted.',
    steps: [
      'Voice pods that were killed: `kubectl get events`, memory limits, nodes that went without being drained. Their grace period is long enough only if nothing else kills them.',
      'The media server restarted or lost its connection to voice: its log, and that of voice.',
    ],
  },
  {
    alert: 'ParleyCanaryAborted',
    severity: 'warning',
    expr: `sum(increase(parley_agent_releases_total{${of('operator')},change="abort"}[15m])) > 0`,
    for: '0m',
    summary: 'A canary of an agent was aborted',
    description: '{{ $value | humanize }} new revisions of agents were given up within a quarter of an hour.',
    means:
      'New calls start with the former revision again, and the new one is not served before its Agent changes. Nothing is broken for callers any more.',
    steps: [
      '`kubectl get agents.parley.dev -A -o json | jq -r \'.items[] | select(.status.conditions[]? | .reason == "CanaryAborted") | .metadata.namespace + "/" + .metadata.name\'` finds it; its condition `Progressing` has the figures.',
      '`kubectl parley history agent/<name> -o wide`, `kubectl parley diff agent/<name>`, and the calls of the revision: `kubectl parley calls --agent <name> -o wide`.',
      'Correct the Agent, which begins another canary. If the figures are the fault of something else: `kubectl parley promote agent/<name>`.',
    ],
  },
  {
    alert: 'ParleyVoiceFull',
    severity: 'critical',
    expr: `sum(parley_voice_calls{${of('voice')}}) / (count(parley_voice_calls{${of('voice')}}) * $VOICE_CALLS) > 0.9`,
    for: '5m',
    summary: 'Voice has hardly any room left',
    description: '{{ $value | humanizePercentage }} of the calls that all voice pods can take are live.',
    means: 'When it is full, new calls wait for an agent and end without one.',
    steps: [
      'More pods: `voice.replicas`, or `voice.autoscaling.maxReplicas`. Pods that wait to be scheduled show in `kubectl get pods`.',
      'More calls a pod: PARLEY_VOICE_CALLS, with the processors and memory for them.',
    ],
  },
  {
    alert: 'ParleyEventLoopSlow',
    severity: 'warning',
    expr: `max by (job, pod) (nodejs_eventloop_lag_p99_seconds{${EVERY}}) > 0.5`,
    for: '15m',
    summary: '{{ $labels.pod }} is short of processor time',
    description: 'What is due waits up to {{ $value | humanizeDuration }} for its turn.',
    means: 'Everything in that process is slow; in voice callers hear it.',
    steps: [
      'More processor time: `<role>.resources.requests.cpu`, and no limit on it. More pods.',
      'Fewer calls or documents at once: PARLEY_VOICE_CALLS, PARLEY_INGESTION_CONCURRENCY.',
    ],
  },
];

const metricsOf = (expr: string): readonly string[] => [...expr.matchAll(/\b([a-z][a-z0-9_]*)\{/g)].map(([, name = '']) => name);

/** Returns the alerts that go by a metric that the panel shows. */
export function alertsOf({ lines }: Panel): readonly Alert[] {
  const shown = new Set(lines.flatMap(([expr]) => metricsOf(expr)));
  return alerts.filter(({ expr }) => metricsOf(expr).some((metric) => shown.has(metric)));
}

/** Makes the rules that the chart puts into a PrometheusRule, and the page with their runbooks. */
export function generateAlerts(): readonly GeneratedFile[] {
  const rules = alerts.map(({ means: _means, steps: _steps, ...rule }) => rule);
  return [
    { path: 'charts/parley/generated/alerts.json', content: `${JSON.stringify(rules, null, 2)}\n` },
    { path: 'docs/reference/alerts.md', content: page() },
  ];
}

function page(): string {
  const rows = alerts.map(({ alert, severity, summary }) => [
    `[${alert}](#${alert.toLowerCase()})`,
    severity,
    summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '*$1*'),
  ]);
  return `<!-- Generated by \`npm run generate\` from scripts/generators/chart-alerts.ts. Do not edit. -->

# Alerts and their runbooks

\`metrics.prometheusRule.enabled: true\` brings these alerts with the chart. They go by the metrics of the [reference](metrics.md), as a
ServiceMonitor or PodMonitor of the chart collects them. \`metrics.prometheusRule.runbookURL\` puts the address of this page into each alert,
\`metrics.prometheusRule.disabled\` leaves some out, \`extraRules\` adds your own. In the expressions below, \`$NAMESPACE\` is the namespace of the release, \`$NAME\` what the
names of its Deployments begin with (\`parley\`, where the release has that name), and \`$ROLE\` each role that is on; alerts with that one need
\`metrics.serviceMonitor\` or \`metrics.podMonitor\`.

${table(['Alert', 'Severity', 'Says'], rows)}${alerts.map(section).join('')}`;
}

function section(alert: Alert): string {
  const { alert: name, expr, for: duration, means, steps } = alert;
  const panels = dashboards.flatMap(({ title, rows }) => {
    const shown = rows.flatMap((row) => row.panels).filter((panel) => alertsOf(panel).includes(alert));
    return shown.map((panel) => `*${panel.title}* of ${title}`);
  });
  if (panels.length === 0)
    throw new Error(`no panel of a dashboard shows the metric of the alert ${name}: add one to chart-dashboard-panels.ts`);
  return `
## ${name}

${means}

${steps.map((step) => `- ${step}`).join('\n')}

Dashboards: ${panels.join(', ')}.

Fires after ${code(duration)} of

\`\`\`
${expr}
\`\`\`
`;
}
