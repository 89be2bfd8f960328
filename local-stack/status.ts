import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { maskUrl } from '../platform/masking.ts';
import { httpCheck } from './components/probes.ts';
import { clientTls, ensureMutualTls } from './components/secrets.ts';
import { externalDatabase, readEnvFile, shellQuoted, type StackEnv } from './env-file.ts';
import { type Layout, layoutOf } from './layout.ts';
import { readState } from './progress-reporter.ts';
import { runningSupervisor } from './supervisor-lock.ts';

/** A process that is stopped or stuck still exists: one that answers does so within this many milliseconds. */
const ANSWER_MS = 2_000;

export interface StackStatus {
  /** Set if every component answers. */
  readonly ready: boolean;
  /** Process id of the supervisor; absent where no stack runs. */
  readonly pid: number | undefined;
  readonly components: readonly {
    readonly name: string;
    readonly state: string;
    readonly pid: number | undefined;
    readonly restarts: number;
  }[];
}

export async function readStatus(folder: string): Promise<StackStatus> {
  const layout = layoutOf(folder);
  const pid = await runningSupervisor(layout.supervisorPid);
  if (pid === undefined) return { ready: false, pid, components: [] };
  const { components } = readState(layout);
  const silent = await Promise.all(
    components.map(
      async ({ name, state, liveUrl }) => state === 'ready' && liveUrl !== undefined && !(await answers(name, liveUrl, layout)),
    ),
  );
  const found = components.map(({ name, state, pid: componentPid, restarts }, index) => ({
    name,
    state: silent[index] === true ? `does not answer within ${ANSWER_MS / 1000} s` : state,
    pid: componentPid,
    restarts,
  }));
  const ready = readEnvFile(layout.envFile) !== undefined && found.every(({ state }) => state === 'ready');
  return { ready, pid, components: found };
}

export function statusText(folder: string, { pid, components }: StackStatus): string {
  if (pid === undefined) return 'no stack runs in this folder\n  → parley dev\n';
  const layout = layoutOf(folder);
  const env = readEnvFile(layout.envFile);
  const lines = components.map(
    ({ name, state, pid: componentPid, restarts }) =>
      `  ${state === 'ready' ? '✓' : '!'} ${name.padEnd(24)}${state}${componentPid === undefined ? '' : `, process ${componentPid}`}${restarts === 0 ? '' : `, restarted ${restarts}×`}\n`,
  );
  return [
    `The stack in ${join(layout.root, '..')} ${env === undefined ? 'is starting or stopping' : 'is up'} (process ${pid}).\n`,
    ...lines,
    env === undefined ? '' : `\n${stackSummary(env, layout)}`,
  ].join('');
}

/** Tells whether a component gives any answer over HTTP, whatever it says. */
async function answers(component: string, url: string, { secrets }: Layout): Promise<boolean> {
  const tls = component === 'etcd' ? clientTls(ensureMutualTls(secrets, 'etcd')) : {};
  return httpCheck({ url, ...tls, signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => true,
    () => false,
  );
}

/** Lists the addresses of a running stack, and commands to try. Every line that starts with kubectl or curl works as printed. */
export function stackSummary(env: StackEnv, layout: Layout): string {
  const agent = firstAgent(env);
  const auth = `-H "Authorization: Bearer $PARLEY_API_KEY"`;
  // A password that the stack did not make up itself is not for the screen.
  const database = externalDatabase({ DATABASE_URL: env.DATABASE_URL }) === undefined ? env.DATABASE_URL : maskUrl(env.DATABASE_URL);
  const commands =
    agent === undefined
      ? [
          'kubectl explain pagent.spec',
          `curl -s "$PARLEY_URL/v2/ai-agents" ${auth}`,
          `curl -s "$PARLEY_URL/readyz"`,
          `curl -s "$PARLEY_URL/healthz"`,
        ]
      : [
          `kubectl describe agents.parley.dev ${agent}`,
          `curl -s "$PARLEY_URL/v2/ai-agents" ${auth}`,
          `curl -s "$PARLEY_URL/v2/ai-agents/${agent}" ${auth}`,
          `curl -s -X PUT "$PARLEY_URL/v2/ai-agents/${agent}?dry_run=true&force=true" ${auth} -H "Content-Type: application/json" -d '{"welcome_message":"Good morning!"}'`,
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
    `  Postgres      ${database}`,
    `  Temporal      ${env.TEMPORAL_ADDRESS}${env.TEMPORAL_UI === undefined ? '' : ` (${env.TEMPORAL_UI})`}`,
    `  receiver      ${env.PARLEY_RECEIVER} (http://receiver.example/ in a subscription; verified deliveries are shown there)`,
    `  media server  ${env.LIVEKIT_URL}`,
    ...(env.PARLEY_SIP === undefined ? [] : [`  telephones    sip:<a number of yours>@${env.PARLEY_SIP}`]),
    `  talk          ${env.PARLEY_CALL_URL}${agent === undefined ? '' : `&agent=${agent}`} in a browser, or \`parley call${agent === undefined ? '' : ` ${agent}`}\``,
    '',
    'In another shell:',
    `  cd ${quoted(join(layout.root, '..'))} && eval "$(${quoted(join(env.PARLEY_BIN, 'parley'))} env)"`,
    'then for instance',
    ...['kubectl get parley', 'kubectl get agents.parley.dev', ...commands].map((command) => `  ${command}`),
    `  curl -s "$PARLEY_RECEIVER"`,
    '',
  ].join('\n');
}

const quoted = (text: string): string => (/^[\w/.@%+=:,-]+$/.test(text) ? text : shellQuoted(text));

function firstAgent(env: StackEnv): string | undefined {
  try {
    const names = execFileSync(
      join(env.PARLEY_BIN, 'kubectl'),
      ['get', 'agents', `--namespace=${env.PARLEY_ORG}`, '--output=jsonpath={.items[*].metadata.name}'],
      {
        env: { ...process.env, KUBECONFIG: env.KUBECONFIG },
        encoding: 'utf8',
        timeout: 10_000,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    return names.split(' ').find((name) => name !== '');
  } catch {
    return undefined;
  }
}
