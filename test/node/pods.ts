/** What the kernel and the API server say of the pods, whatever the manifests say. */
import { readdirSync, readFileSync } from 'node:fs';

import { output } from './output.ts';

type Kubectl = readonly [string, ...string[]];

/** Every process whose root holds Parley, as the kernel sees it. */
export async function unprivileged(): Promise<string> {
  let seen = 0;
  const problems: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (!command.includes('/opt/parley/')) continue;
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
      // Gone meanwhile.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  if (seen < 6) throw new Error(`only ${seen} processes of Parley were found`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return `${seen} processes`;
}

/** `kubectl auth can-i` for each service account of the release, on Secrets. */
export async function secretsTable(options: {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly organization: string;
}): Promise<string> {
  const { kubectl, namespace, organization } = options;
  const names = await output([...kubectl, '-n', namespace, 'get', 'serviceaccounts', '-o', 'jsonpath={.items[*].metadata.name}']);
  const rows: string[] = [];
  const problems: string[] = [];
  for (const account of names.split(' ').filter((name) => name !== 'default')) {
    const allowed: string[] = [];
    for (const where of ['kube-system', 'default', namespace, organization]) {
      for (const verb of ['get', 'list', 'watch', 'create', 'delete']) {
        const asked = [
          ...kubectl,
          'auth',
          'can-i',
          verb,
          'secrets',
          '-n',
          where,
          `--as=system:serviceaccount:${namespace}:${account}`,
        ] as const;
        // It exits 1 for "no".
        const yes = await output(asked).then(
          (answer) => answer.trim() === 'yes',
          () => false,
        );
        if (yes) allowed.push(`${where}:${verb}`);
        if (yes && where !== organization) problems.push(`${account} may ${verb} Secrets in ${where}`);
      }
    }
    rows.push(`${account} [${allowed.join(' ')}]`);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return rows.join(', ');
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers?: readonly { readonly name: string; readonly memory?: { readonly workingSetBytes?: number } }[];
  }[];
}

/** Working sets as the kubelet counts them against the limits. */
export async function memoryOf(kubectl: Kubectl, namespace: string): Promise<string> {
  const summary = JSON.parse(await output([...kubectl, 'get', '--raw', '/api/v1/nodes/parley-node/proxy/stats/summary'])) as Summary;
  return summary.pods
    .filter(({ podRef }) => podRef.namespace === namespace)
    .flatMap(({ podRef, containers }) =>
      (containers ?? []).map(
        ({ memory }) => `${podRef.name.replace(/-[^-]+-[^-]+$/, '')} ${Math.round((memory?.workingSetBytes ?? 0) / 1024 / 1024)} MiB`,
      ),
    )
    .join(', ');
}
