/** What must hold on a node, in the order in which an installation lives: install, use, upgrade, roll back, uninstall. */
import { NAMESPACE, ORGANIZATION, type Servers } from './installation.ts';
import { output } from './output.ts';

export interface SuiteOptions {
  readonly kubectl: readonly [string, ...string[]];
  readonly helm: string;
  readonly kubeconfig: string;
  readonly chart: string;
  readonly valuesFile: string;
  readonly servers: Servers;
  /** How to run the command of this checkout. */
  readonly parley: readonly [string, ...string[]];
  readonly root: string;
}

/** @returns how many checks failed; a summary is printed */
export async function runSuite(options: SuiteOptions): Promise<number> {
  const { kubectl, helm, kubeconfig, chart, valuesFile, servers, parley, root } = options;
  const inNamespace = [...kubectl, '--namespace', NAMESPACE] as const;
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  const helmIn = (...args: string[]) => output([helm, '--namespace', NAMESPACE, ...args], { env, timeoutMs: 600_000 });
  let failed = 0;
  let passed = 0;
  const check = async (what: string, work: () => Promise<string | void>): Promise<void> => {
    const begun = performance.now();
    try {
      const note = await work();
      passed += 1;
      process.stdout.write(
        `ok      ${what} (${((performance.now() - begun) / 1000).toFixed(1)} s)${note === undefined ? '' : `: ${note}`}\n`,
      );
    } catch (error) {
      failed += 1;
      process.stdout.write(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  };

  await check('helm install: every pod Ready', async () => {
    await helmIn('install', 'parley', chart, '--values', valuesFile, '--wait', '--timeout', '300s');
  });
  await check('no container ran into its limit, or was started again', async () => {
    const restarts = await output([...inNamespace, 'get', 'pods', '-o', 'jsonpath={.items[*].status.containerStatuses[*].restartCount}']);
    if (/[1-9]/.test(restarts)) throw new Error(`restarts: ${restarts}`);
  });
  await check('the examples become Ready', async () => {
    await output([...kubectl, '--namespace', ORGANIZATION, 'apply', '-f', `${root}/examples`]);
    await output([
      ...kubectl,
      '--namespace',
      ORGANIZATION,
      'wait',
      'agents,tools,knowledgebases,webhooksubscriptions',
      '--all',
      '--for=condition=Ready',
      '--timeout=120s',
    ]);
  });
  await check('a REST call', async () => {
    const { api_key: key } = JSON.parse(
      await output([...parley, 'keys', 'create', '--org', ORGANIZATION, '--name', 'node', '--json'], {
        env: { ...env, DATABASE_URL: servers.databaseUrl },
      }),
    ) as { api_key: string };
    const address = await output([
      ...inNamespace,
      'get',
      'service',
      'parley-api',
      '-o',
      'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}',
    ]);
    const response = await fetch(`http://${address}/v2/ai-agents`, { headers: { authorization: `Bearer ${key}`, 'x-api-key': key } });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  });
  await check('helm uninstall: definitions and resources stay', async () => {
    await helmIn('uninstall', 'parley', '--wait', '--timeout', '180s');
    const agents = await output([...kubectl, '--namespace', ORGANIZATION, 'get', 'agents', '-o', 'name']);
    if (agents.trim() === '') throw new Error('the agents are gone');
  });
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed;
}
