/** Asks the kernel and the API server about the pods, whatever the manifests say. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isProgramOf, processesWhere } from '../support/role-pods.ts';
import { NODE_NAME } from './cluster.ts';
import { output } from './output.ts';

type Kubectl = readonly [string, ...string[]];

/** Checks every process whose root holds Parley, as the kernel sees it. */
export async function unprivileged(): Promise<string> {
  let seen = 0;
  const problems: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!words.some((word) => word.startsWith('/opt/parley/'))) continue;
      const command = words.join(' ');
      seen += 1;
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const field = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
      const root = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
        .split('\n')
        .map((line) => line.split(' '))
        .find((fields) => fields[4] === '/');
      if (field('Uid').split(/\s+/).includes('0')) problems.push(`${command}: root`);
      if (Number.parseInt(field('CapEff'), 16) !== 0 || Number.parseInt(field('CapBnd'), 16) !== 0)
        problems.push(`${command}: capabilities`);
      if (field('NoNewPrivs') !== '1') problems.push(`${command}: may gain privileges`);
      if (field('Seccomp') !== '2') problems.push(`${command}: no seccomp filter`);
      if (root?.[5]?.split(',').includes('ro') !== true) problems.push(`${command}: writable root file system`);
    } catch (error) {
      // The process is gone meanwhile.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  if (seen < 6) throw new Error(`only ${seen} processes of Parley were found`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return `${seen} processes`;
}

/** Asks at once what `kubectl auth can-i` would say to each service account of the release about Secrets. */
export async function secretsTable(options: {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly organization: string;
  readonly work: string;
}): Promise<string> {
  const { kubectl, namespace, organization, work } = options;
  const names = await output([...kubectl, '-n', namespace, 'get', 'serviceaccounts', '-o', 'jsonpath={.items[*].metadata.name}']);
  const accounts = names.split(' ').filter((name) => name !== 'default');
  // The empty name stands for the whole cluster.
  const places = ['', 'kube-system', 'default', namespace, organization];
  const items = accounts.flatMap((account) =>
    places.flatMap((place) =>
      ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].map((verb) => ({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: `system:serviceaccount:${namespace}:${account}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          resourceAttributes: { resource: 'secrets', version: 'v1', verb, ...(place !== '' && { namespace: place }) },
        },
      })),
    ),
  );
  const file = join(work, 'reviews.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const attributes = '.spec.resourceAttributes';
  const columns = `jsonpath={.status.allowed},{.spec.user},{${attributes}.verb},{${attributes}.namespace}{"\\n"}`;
  const rows = (await output([...kubectl, 'create', '-f', file, '-o', columns])).trim().split('\n');
  if (rows.length !== items.length) throw new Error(`${items.length} questions, and ${rows.length} answers`);
  const allowed = rows.flatMap((row) => {
    const [answer, user = '', verb = '', where = ''] = row.split(',');
    return answer === 'true' ? [{ account: user.slice(user.lastIndexOf(':') + 1), verb, where }] : [];
  });
  const outside = allowed.filter(({ where }) => where !== organization);
  if (outside.length > 0) {
    throw new Error(outside.map(({ account, verb, where }) => `${account} may ${verb} Secrets in ${where || 'all namespaces'}`).join('\n'));
  }
  const verbsOf = (account: string) => allowed.filter((row) => row.account === account).map(({ verb }) => verb);
  return accounts.map((account) => `${account} ${verbsOf(account).join('/') || 'nothing'}`).join(', ');
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers?: readonly { readonly name: string; readonly memory?: { readonly workingSetBytes?: number } }[];
  }[];
}

/** Compares working sets, as the kubelet counts them, with the limits. */
export async function memoryOf(kubectl: Kubectl, namespace: string): Promise<string> {
  const summary = JSON.parse(await output([...kubectl, 'get', '--raw', `/api/v1/nodes/${NODE_NAME}/proxy/stats/summary`])) as Summary;
  return summary.pods
    .filter(({ podRef }) => podRef.namespace === namespace)
    .flatMap(({ podRef, containers }) =>
      (containers ?? []).map(
        ({ memory }) => `${podRef.name.replace(/-[^-]+-[^-]+$/, '')} ${Math.round((memory?.workingSetBytes ?? 0) / 1024 / 1024)} MiB`,
      ),
    )
    .join(', ');
}

/** Measures the milliseconds from the start of a role's program to its first answer, in a pod that is started alone. */
export async function startTimes({
  kubectl,
  namespace,
  roles,
}: {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly roles: readonly string[];
}): Promise<string> {
  const times: string[] = [];
  for (const role of roles) {
    const before = new Set(processesWhere(isProgramOf(role)));
    const inNamespace = [...kubectl, '--namespace', namespace] as const;
    await output([...inNamespace, 'delete', 'pod', '-l', `app.kubernetes.io/component=${role}`]);
    await output([...inNamespace, 'rollout', 'status', `deployment/parley-${role}`, '--timeout=120s']);
    const pid = processesWhere(isProgramOf(role)).find((one) => !before.has(one));
    if (pid === undefined) throw new Error(`no new process of ${role}`);
    // The start is in hundredths of a second since the machine was started; it stands behind the name, which may have spaces.
    const ticks = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]);
    const begun = Date.now() - Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000 + ticks * 10;
    const pod = /(?:^|\0)HOSTNAME=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? '';
    const lines = (await output([...inNamespace, 'logs', pod])).split('\n').filter((line) => line.startsWith('{'));
    const served = lines
      .map((line) => JSON.parse(line) as { readonly time: string; readonly msg: string })
      .find(({ msg }) => msg === 'listening' || msg === 'probes and metrics are served');
    if (served === undefined) throw new Error(`${pod} never said that it listens`);
    times.push(`${role} ${Math.round(Date.parse(served.time) - begun)} ms`);
  }
  return times.join(', ');
}
