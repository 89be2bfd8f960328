/** What must hold on a node, in the order in which an installation lives: install, use, upgrade under load, roll back, uninstall. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { NAMESPACE, ORGANIZATION, type Servers } from './installation.ts';
import { Load } from './load.ts';
import { output } from './output.ts';
import { memoryOf, secretsTable, unprivileged } from './pods.ts';

export interface SuiteOptions {
  readonly kubectl: readonly [string, ...string[]];
  readonly helm: string;
  /** With the organisation's namespace. */
  readonly kubeconfig: string;
  readonly chart: string;
  readonly valuesFile: string;
  readonly servers: Servers;
  /** How to run the command of this checkout. */
  readonly parley: readonly [string, ...string[]];
  readonly root: string;
  readonly work: string;
}

/** Objects with which memory is looked at. */
const MANY = 1000;

/** @returns how many checks failed; each is printed as it ends, and the numbers at last */
export async function runSuite(options: SuiteOptions): Promise<number> {
  const { kubectl, helm, kubeconfig, chart, valuesFile, servers, parley, root, work } = options;
  const inNamespace = [...kubectl, '--namespace', NAMESPACE] as const;
  const inOrganization = [...kubectl, '--namespace', ORGANIZATION] as const;
  const helmIn = (...args: string[]) =>
    output([helm, '--namespace', NAMESPACE, ...args], { env: { ...process.env, KUBECONFIG: kubeconfig } });
  let env: NodeJS.ProcessEnv = { ...process.env, KUBECONFIG: kubeconfig, PARLEY_ORG: ORGANIZATION, DATABASE_URL: servers.databaseUrl };
  const run = (...args: string[]) => output([...parley, ...args], { env });
  const address = async (): Promise<string> =>
    `http://${await output([...inNamespace, 'get', 'service', 'parley-api', '-o', 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}'])}`;

  let failed = 0;
  let passed = 0;
  const check = async (what: string, body: () => Promise<string | void>): Promise<void> => {
    const begun = performance.now();
    try {
      const note = await body();
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
    await helmIn('install', 'parley', chart, '--values', valuesFile, '--wait', '--timeout', '120s');
  });
  await check('nothing runs as root, with capabilities, or with a root file system that it could write', unprivileged);
  await check('Secrets are read in organisations only', () =>
    secretsTable({ kubectl, namespace: NAMESPACE, organization: ORGANIZATION, work }),
  );
  await check('the examples become Ready', async () => {
    await output([...inOrganization, 'apply', '-f', join(root, 'examples')]);
    const kinds = 'agents,tools,knowledgebases,webhooksubscriptions';
    await output([...inOrganization, 'wait', kinds, '--all', '--for=condition=Ready', '--timeout=120s']);
  });
  await check('a REST call', async () => {
    const { api_key: key } = JSON.parse(await run('keys', 'create', '--org', ORGANIZATION, '--name', 'node', '--json')) as {
      api_key: string;
    };
    env = { ...env, PARLEY_URL: await address(), PARLEY_API_KEY: key, PARLEY_SPEECH_URL: servers.speechUrl };
    const response = await fetch(`${env['PARLEY_URL']}/v2/ai-agents`, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    if (!response.ok || !text.includes('receptionist')) throw new Error(`${response.status} ${text}`);
  });
  await check("documents are read in the worker's processes, and found", async () => {
    const folder = join(root, 'examples/documents');
    await run('kb', 'add', 'workshop-handbook', ...readdirSync(folder).map((name) => join(folder, name)));
    const found = await run('kb', 'search', 'workshop-handbook', 'when', 'does', 'a', 'chain', 'have', 'to', 'be', 'replaced');
    if (!found.includes('bicycle-care.pdf')) throw new Error(found);
  });
  await check('a webhook arrives', async () => {
    await run('webhooks', 'test', 'call-log');
    const deliveries = await (await fetch(servers.receiverUrl)).text();
    if (!deliveries.includes('"verified"')) throw new Error(deliveries.slice(0, 500));
  });
  const call = (...more: string[]) =>
    run('call', 'receptionist', '--say', 'What are your opening hours?', '--no-record', '--json', '--max-seconds', '60', ...more);
  await check('a voice call', async () => {
    const said = await call();
    if (!/agent/i.test(said)) throw new Error(said);
  });
  await check('helm upgrade under load: no call dropped, no request refused, no event lost', async () => {
    const load = new Load({ url: env['PARLEY_URL'] ?? '', apiKey: env['PARLEY_API_KEY'] ?? '', run, call });
    load.start();
    await helmIn('upgrade', 'parley', chart, '--values', valuesFile, '--set', 'podAnnotations.revision=two', '--wait', '--timeout', '300s');
    return load.finish();
  });
  await check('helm rollback', async () => {
    await helmIn('rollback', 'parley', '1', '--wait', '--timeout', '300s');
    const response = await fetch(`${await address()}/v2/ai-agents/receptionist`, {
      headers: { authorization: `Bearer ${env['PARLEY_API_KEY']}` },
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  });
  await check(`${MANY} objects within the memory limits`, async () => {
    const items = Array.from({ length: MANY }, (_, number) => ({
      apiVersion: 'parley.dev/v1alpha1',
      kind: 'Agent',
      metadata: { name: `many-${number}`, labels: { many: 'true' } },
      spec: {
        llm: { provider: 'openai', model: 'gpt-4o-mini', systemPrompt: `You are number ${number}. ${'Be kind and brief. '.repeat(20)}` },
        speechToText: { provider: 'deepgram' },
        textToSpeech: { provider: 'elevenlabs' },
      },
    }));
    const file = join(work, 'many.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await output([...inOrganization, 'apply', '--server-side', '-f', file], { timeoutMs: 600_000 });
    await output([...inOrganization, 'wait', 'agents', '--all', '--for=condition=Ready', '--timeout=300s'], { timeoutMs: 310_000 });
    for (let page = 0; page < 20; page += 1)
      await fetch(`${env['PARLEY_URL']}/v2/ai-agents`, { headers: { authorization: `Bearer ${env['PARLEY_API_KEY']}` } });
    const restarts = await output([...inNamespace, 'get', 'pods', '-o', 'jsonpath={.items[*].status.containerStatuses[*].restartCount}']);
    if (/[1-9]/.test(restarts)) throw new Error(`containers were started again: ${restarts}`);
    return memoryOf(kubectl, NAMESPACE);
  });
  await check('helm uninstall: definitions, resources and data stay', async () => {
    await helmIn('uninstall', 'parley', '--wait', '--timeout', '180s');
    await output([...inOrganization, 'get', 'agent', 'receptionist']);
  });
  await check('installed again, it goes on where it was', async () => {
    await helmIn('install', 'parley', chart, '--values', valuesFile, '--wait', '--timeout', '300s');
    env = { ...env, PARLEY_URL: await address() };
    const found = await run('kb', 'search', 'workshop-handbook', 'chain');
    if (!found.includes('bicycle-care.pdf')) throw new Error(found);
  });
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed;
}
