import type { StackEnv } from './env-file.ts';

/** What a person sees when the stack is up: where it is and what to try. Every line that starts with kubectl or curl works as printed. */
export function tour(env: StackEnv, options: { readonly agent?: string; readonly envCommand: string }): string {
  const auth = `-H "Authorization: Bearer $PARLEY_API_KEY"`;
  const agent = options.agent;
  const kubectl = [
    'kubectl get parley',
    'kubectl get agents -o wide',
    agent === undefined ? 'kubectl explain agent.spec' : `kubectl describe agent ${agent}`,
  ];
  const curl = [
    `curl -s "$PARLEY_URL/v2/ai-agents" ${auth}`,
    ...(agent === undefined ? [`curl -s "$PARLEY_URL/readyz"`] : [`curl -s "$PARLEY_URL/v2/ai-agents/${agent}" ${auth}`]),
    agent === undefined
      ? `curl -s "$PARLEY_URL/healthz"`
      : `curl -s -X PUT "$PARLEY_URL/v2/ai-agents/${agent}?dry_run=true&force=true" ${auth} -H "Content-Type: application/json" -d '{"welcome_message":"Good morning!"}'`,
  ];
  const parley =
    agent === undefined
      ? []
      : [
          'parley kb search workshop-handbook when does a chain have to be replaced',
          `parley events emit --name CallHandler.CallEnded --agent ${agent}`,
          'parley webhooks deliveries handbook-news',
          `parley call ${agent} --say "what are your opening hours"`,
        ];
  return [
    `  REST API      ${env.PARLEY_URL}`,
    `  organisation  ${env.PARLEY_ORG}`,
    `  API key       ${env.PARLEY_API_KEY}`,
    `  kubeconfig    ${env.KUBECONFIG}`,
    `  Postgres      ${env.DATABASE_URL}`,
    `  Temporal      ${env.TEMPORAL_ADDRESS}${env.TEMPORAL_UI === undefined ? '' : ` (${env.TEMPORAL_UI})`}`,
    `  receiver      ${env.PARLEY_RECEIVER} (http://receiver.example/ in a subscription; verified deliveries are shown there)`,
    `  media server  ${env.LIVEKIT_URL}`,
    ...(env.PARLEY_SIP === undefined ? [] : [`  telephones    sip:<a number of yours>@${env.PARLEY_SIP}`]),
    `  talk          ${env.PARLEY_CALL_URL}${agent === undefined ? '' : `&agent=${agent}`} in a browser, or \`parley call${agent === undefined ? '' : ` ${agent}`}\``,
    '',
    'In another shell:',
    `  ${options.envCommand}`,
    'then for instance',
    ...kubectl.map((command) => `  ${command}`),
    ...curl.map((command) => `  ${command}`),
    ...parley.map((command) => `  ${command}`),
    `  curl -s "$PARLEY_RECEIVER"`,
    '',
  ].join('\n');
}
