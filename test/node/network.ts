/** Tries the table of docs/install/network-policies.md, which says who reaches what, from inside each pod. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseAllDocuments } from 'yaml';

import { isProgramOf, processesWhere } from '../support/role-pods.ts';
import { API_SERVER_SERVICE, NODE_ADDRESS, WORLD_ADDRESS } from './cluster.ts';
import { IMAGE } from './installation.ts';
import { LISTEN, listenIn, METADATA, PRIVATE, PUBLIC, standIns, type ProbeTarget, tryFrom, tryFromOutside } from './network-probes.ts';
import { output } from './output.ts';
import { problemsOf, settled, type Way } from './ways.ts';

export interface NetworkOptions {
  readonly kubectl: readonly [string, ...string[]];
  readonly namespace: string;
  /** Output of `helm get hooks`: the policies of the Jobs are gone with them. */
  readonly hooks: string;
  /** Tag of the image. */
  readonly tag: string;
  readonly root: string;
}

const roles = ['operator', 'api', 'worker', 'dispatcher', 'voice'] as const;
const jobs = ['migrate', 'register'] as const;

/** The chart has no rule for this port. */
const OTHER_PORT = 9_999;
const STRANGERS = 'strangers';

/**
 * @returns how much was tried
 * @throws Error that names every way that is open and should not be, and the other way round
 */
export async function whoReachesWhat(options: NetworkOptions): Promise<string> {
  const { kubectl } = options;
  const close = await standIns();
  try {
    await startProbes(options);
    const addressOf = async (place: string, selector: string): Promise<string> =>
      output([...kubectl, '-n', place, 'get', 'pods', '-l', selector, '-o', 'jsonpath={.items[0].status.podIP}']);
    const names = await addressOf('kube-system', 'k8s-app=kube-dns');
    const columns = columnsOf(names);
    const allowed = documented(options.root);
    const elsewhere: readonly ProbeTarget[] = [
      { host: PUBLIC, port: 22 },
      { host: PRIVATE, port: 443 },
      { host: PRIVATE, port: 5432 },
      { host: METADATA, port: 80 },
      { host: NODE_ADDRESS, port: 10_250 },
      { host: await addressOf(STRANGERS, 'probe=stranger'), port: OTHER_PORT },
    ];
    const outwards = async (role: (typeof roles | typeof jobs)[number]): Promise<readonly Way[]> => {
      const wanted = Object.entries(columns).flatMap(([column, targets]) =>
        targets.map((target) => ({ target, may: allowed.get(role)?.has(column) === true })),
      );
      const mail = { target: { host: PUBLIC, port: 587 }, may: role === 'voice' };
      const all = [...wanted, mail, ...elsewhere.map((target) => ({ target, may: false }))];
      const reached = await tryFrom(
        processOf(role),
        all.map(({ target }) => target),
      );
      return all.map(({ target, may }, index) => ({ who: role, target, reached: reached[index] === true, may }));
    };
    const ways: Way[] = [];
    for (const role of [...roles, ...jobs]) ways.push(...(await settled(() => outwards(role))));
    for (const role of roles) ways.push(...(await settled(() => inwards(options, role))));
    const problems = problemsOf(ways);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return `${ways.length} ways tried, from ${roles.length + jobs.length} pods, a stranger's and another machine`;
  } finally {
    await close();
    await removeProbes(options);
  }
}

/** Returns the targets of each column, on this node. There are no rules for vectors and bucket: nothing is installed behind them. */
function columnsOf(names: string): Readonly<Record<string, readonly ProbeTarget[]>> {
  return {
    DNS: [
      { host: names, port: 53, udp: true },
      { host: names, port: 53 },
    ],
    'API server': [
      { host: API_SERVER_SERVICE, port: 443 },
      { host: NODE_ADDRESS, port: 6443 },
    ],
    Postgres: [{ host: NODE_ADDRESS, port: 5432 }],
    Temporal: [{ host: NODE_ADDRESS, port: 7233 }],
    LiveKit: [{ host: NODE_ADDRESS, port: 7880 }],
    Media: [
      { host: NODE_ADDRESS, port: 7881 },
      { host: NODE_ADDRESS, port: 3478, udp: true },
    ],
    Outside: [
      { host: PUBLIC, port: 80 },
      { host: PUBLIC, port: 443 },
      { host: PUBLIC, port: 8443 },
      { host: WORLD_ADDRESS, port: 7891 },
    ],
  };
}

/** Returns the columns with a yes, by role. */
function documented(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const page = readFileSync(join(root, 'docs/install/network-policies.md'), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  const headings = rows[0] ?? [];
  const table = new Map(
    rows
      .slice(2, 2 + roles.length + jobs.length)
      .map(([role = '', ...cells]) => [role, new Set(cells.flatMap((cell, index) => (cell === 'yes' ? [headings[index + 1] ?? ''] : [])))]),
  );
  for (const role of [...roles, ...jobs]) if (!table.has(role)) throw new Error(`the table has no ${role}`);
  return table;
}

/** Starts pods that only listen: in the places of the Jobs, which have ended, and somebody else's. */
async function startProbes({ kubectl, namespace, hooks, tag }: NetworkOptions): Promise<void> {
  const policies = parseAllDocuments(hooks)
    .map(
      (document) =>
        document.toJS() as { readonly kind?: string; readonly metadata: { readonly labels: Readonly<Record<string, string>> } } | null,
    )
    .filter((manifest) => manifest?.kind === 'NetworkPolicy');
  const pod = (name: string, place: string, labels: object, ports: readonly number[]): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: place, labels },
    spec: {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'probe',
          image: `${IMAGE}:${tag}`,
          imagePullPolicy: 'Never',
          command: ['node', '--eval', LISTEN, name, ...ports.map(String)],
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  });
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: STRANGERS } },
    ...policies.map((policy) => ({ ...policy, metadata: { ...policy?.metadata, namespace } })),
    pod('probe-stranger', STRANGERS, { probe: 'stranger' }, [OTHER_PORT]),
    ...jobs.map((job) => {
      const policy = policies.find((manifest) => manifest?.metadata.labels['app.kubernetes.io/component'] === job);
      if (policy === undefined || policy === null) throw new Error(`the hooks have no policy for ${job}`);
      return pod(`probe-${job}`, namespace, { ...policy.metadata.labels, probe: job }, [OTHER_PORT]);
    }),
  ];
  await output([...kubectl, 'apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  for (const [place, name] of [[STRANGERS, 'probe-stranger'], ...jobs.map((job) => [namespace, `probe-${job}`] as const)] as const)
    await output([...kubectl, '-n', place, 'wait', `pod/${name}`, '--for=condition=Ready', '--timeout=60s']);
}

async function removeProbes({ kubectl, namespace }: NetworkOptions): Promise<void> {
  await output([...kubectl, '-n', namespace, 'delete', 'pod,networkpolicy', '-l', `app.kubernetes.io/component in (${jobs.join(', ')})`]);
  await output([...kubectl, 'delete', 'namespace', STRANGERS, '--ignore-not-found']);
}

/** Checks that the REST API is open for everybody, metrics for pods of the cluster, and everything else closed. */
async function inwards({ kubectl, namespace }: NetworkOptions, role: (typeof roles)[number]): Promise<readonly Way[]> {
  const pid = processOf(role);
  const ports = 'jsonpath={range .items[*]}{.status.podIP} {.spec.containers[0].ports[0].containerPort}{"\\n"}{end}';
  const described = await output([...kubectl, '-n', namespace, 'get', 'pods', '-l', `app.kubernetes.io/component=${role}`, '-o', ports]);
  const addresses = await output(['nsenter', `--net=/proc/${pid}/ns/net`, 'ip', '-4', '-o', 'addr', 'show', 'eth0']);
  const own = addresses.match(/inet ([\d.]+)/)?.[1];
  const [host = '', port = ''] =
    described
      .split('\n')
      .map((line) => line.split(' '))
      .find(([address]) => address === own) ?? [];
  const served = { host, port: Number(port) };
  const closed = { host, port: OTHER_PORT };
  // The listener is in the pod's own network; no other pod may reach it.
  const listener = await listenIn(pid, OTHER_PORT);
  try {
    const stranger = await tryFrom(processOf('stranger'), [served, closed]);
    const machine = await tryFromOutside([served, closed]);
    return [
      { who: "a stranger's pod", target: served, reached: stranger[0] === true, may: true },
      { who: "a stranger's pod", target: closed, reached: stranger[1] === true, may: false },
      { who: 'another machine', target: served, reached: machine[0] === true, may: role === 'api' },
      { who: 'another machine', target: closed, reached: machine[1] === true, may: false },
    ];
  } finally {
    listener.stop();
  }
}

/** Finds the program of a role, or what stands in for a Job. */
function processOf(role: string): number {
  const [pid] = [
    ...processesWhere(isProgramOf(role)),
    ...processesWhere((words) => words[0] === 'node' && words.includes(`probe-${role}`)),
  ];
  if (pid === undefined) throw new Error(`no process of ${role} was found`);
  return pid;
}
