/** Checks what must hold on a node, in the order in which an installation lives: install, use, upgrade under load, roll back, uninstall. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { callLines, spokenByAgent } from '../support/call-lines.ts';
import { eventually } from '../support/eventually.ts';
import { requireVerified, type SeenDeliveries } from '../support/received.ts';
import type { Checks } from './checks.ts';
import { WORLD_ADDRESS } from './cluster.ts';
import { endToEnd } from './end-to-end.ts';
import { NAMESPACE, ORGANIZATION, type InstalledServers } from './installation.ts';
import { Load } from './load.ts';
import { whoReachesWhat } from './network.ts';
import { output } from './output.ts';
import { memoryOf, secretsTable, startTimes, unprivileged } from './pods.ts';

export interface SuiteOptions {
  readonly kubectl: readonly [string, ...string[]];
  readonly helm: string;
  /** Kubeconfig with the organisation's namespace. */
  readonly kubeconfig: string;
  readonly chart: string;
  readonly valuesFile: string;
  readonly servers: InstalledServers;
  /** Runs the command of this checkout. */
  readonly parley: readonly [string, ...string[]];
  readonly root: string;
  readonly work: string;
  /** Tag of the image. */
  readonly tag: string;
  readonly checks: Checks;
}

/** Number of objects with which memory is looked at. */
const MANY = 1000;

export async function runSuite(options: SuiteOptions): Promise<void> {
  const { kubectl, helm, kubeconfig, chart, valuesFile, servers, parley, root, work } = options;
  const inNamespace = [...kubectl, '--namespace', NAMESPACE] as const;
  const inOrganization = [...kubectl, '--namespace', ORGANIZATION] as const;
  const helmIn = (...args: string[]) =>
    output([helm, '--namespace', NAMESPACE, ...args], { env: { ...process.env, KUBECONFIG: kubeconfig }, timeoutMs: 600_000 });
  const change = (command: 'install' | 'upgrade', ...args: string[]) =>
    helmIn(command, 'parley', chart, '--values', valuesFile, '--wait', '--timeout', command === 'install' ? '120s' : '300s', ...args);
  let env: NodeJS.ProcessEnv = { ...process.env, KUBECONFIG: kubeconfig, PARLEY_ORG: ORGANIZATION, DATABASE_URL: servers.databaseUrl };
  const run = (...args: string[]) => output([...parley, ...args], { env });
  const address = async (): Promise<string> =>
    `http://${await output([...inNamespace, 'get', 'service', 'parley-api', '-o', 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}'])}`;
  const rest = async (path: string): Promise<string> => {
    const response = await fetch(`${env['PARLEY_URL']}${path}`, { headers: { authorization: `Bearer ${env['PARLEY_API_KEY']}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return text;
  };
  const reading = async (): Promise<void> => {
    const found = await run('kb', 'search', 'workshop-handbook', 'when', 'does', 'a', 'chain', 'have', 'to', 'be', 'replaced');
    if (!found.includes('bicycle-care.pdf')) throw new Error(found);
  };

  const check = options.checks.check.bind(options.checks);
  const needed = { needed: true };
  await check('helm install: every pod Ready', async () => void (await change('install')), needed);
  await check('the Jobs of the hooks have run: the schema first, the organisations last', async () => {
    const done = [
      'get',
      'events',
      '--field-selector',
      'involvedObject.kind=Job,reason=Completed',
      '-o',
      'jsonpath={.items[*].regarding.name}{.items[*].involvedObject.name}',
    ];
    const jobs = await output([...inNamespace, ...done]);
    for (const job of ['parley-migrate', 'parley-register']) if (!jobs.includes(job)) throw new Error(`${job} is not among ${jobs}`);
    const left = await output([...inNamespace, 'get', 'jobs', '-o', 'name']);
    if (left !== '') throw new Error(`left behind: ${left}`);
  });
  await check('helm test', async () => {
    const said = await helmIn('test', 'parley', '--timeout', '180s');
    if (!/Phase:\s+Succeeded/.test(said)) throw new Error(said);
  });
  await check('nothing runs as root, with capabilities, or with a root file system that it could write', unprivileged);
  await check('Secrets are read in organisations only', () =>
    secretsTable({ kubectl, namespace: NAMESPACE, organization: ORGANIZATION, work }),
  );
  await check('each pod reaches what it needs, and nothing else', async () =>
    whoReachesWhat({ kubectl, namespace: NAMESPACE, hooks: await helmIn('get', 'hooks', 'parley'), tag: options.tag, root }),
  );
  await check(
    'the examples become Ready',
    async () => {
      await output([...inOrganization, 'apply', '-f', join(root, 'examples')]);
      const kinds = 'agents,tools,knowledgebases,webhooksubscriptions';
      await output([...inOrganization, 'wait', kinds, '--all', '--for=condition=Ready', '--timeout=120s']);
    },
    needed,
  );
  await check(
    'a REST call',
    async () => {
      const made = await run('keys', 'create', '--org', ORGANIZATION, '--name', 'node', '--permissions', '*', '--json');
      const { api_key: key } = JSON.parse(made) as { readonly api_key: string };
      env = { ...env, PARLEY_URL: await address(), PARLEY_API_KEY: key, PARLEY_SPEECH_URL: servers.speechUrl };
      const text = await rest('/v2/ai-agents');
      if (!text.includes('receptionist')) throw new Error(text);
    },
    needed,
  );
  await check(
    "documents are read in the worker's processes, and found",
    async () => {
      const folder = join(root, 'examples/documents');
      await run('kb', 'add', 'workshop-handbook', ...readdirSync(folder).map((name) => join(folder, name)));
      await reading();
    },
    needed,
  );
  await check('a webhook arrives', async () => {
    const [eventId = ''] = (await run('webhooks', 'test', 'call-log')).split(' ');
    await eventually(async () => requireVerified((await (await fetch(servers.receiverUrl)).json()) as SeenDeliveries, eventId));
  });
  await check('a voice call', async () => {
    const call = ['call', 'receptionist', '--say', 'What are your opening hours?', '--json', '--max-seconds', '60'];
    const said = await run(...call);
    const [welcome, answer] = spokenByAgent(callLines(said.split('\n')));
    if (answer === undefined) throw new Error(`${welcome === undefined ? 'not even a welcome' : 'no answer'}: ${said}`);
    return answer;
  });
  await check('the end-to-end suites of `parley dev`', () => endToEnd({ env, kubectl, servers, parley, root, work }));
  await check('a pod that is taken away is replaced; its program answers at once', () =>
    startTimes({ kubectl, namespace: NAMESPACE, roles: ['operator', 'api'] }),
  );
  await check('helm upgrade under load: no call dropped, no request refused, no event, document or change lost', async () => {
    const { PARLEY_URL: url = '', PARLEY_API_KEY: apiKey = '' } = env;
    const load = new Load({ url, apiKey, kubectl: inOrganization, parley, env, host: WORLD_ADDRESS, work });
    try {
      await load.start();
      await change('upgrade', '--set', 'defaults.podAnnotations.revision=two');
      return await load.finish();
    } finally {
      await load.stop();
    }
  });
  await check('helm rollback', async () => {
    await helmIn('rollback', 'parley', '1', '--wait', '--timeout', '300s');
    await rest('/v2/ai-agents/receptionist');
  });
  await check('an upgrade whose migration fails leaves the pods as they are', async () => {
    const selected = ['get', 'pods', '-l', 'app.kubernetes.io/component=api', '-o', 'jsonpath={.items[*].metadata.name}'];
    const pods = async () => (await output([...inNamespace, ...selected])).split(' ');
    const before = new Set(await pods());
    const set = ['secrets.DATABASE_URL.key=livekit', 'migrations.backoffLimit=0', 'defaults.podAnnotations.revision=three'];
    const wentOn = await change('upgrade', ...set.flatMap((value) => ['--set', value])).then(
      () => true,
      () => false,
    );
    if (wentOn) throw new Error('the upgrade went on');
    // Pods from before the last change may have gone meanwhile.
    const fresh = (await pods()).filter((name) => !before.has(name));
    if (fresh.length > 0) throw new Error(`pods were replaced: ${fresh.join(', ')} have come`);
    await rest('/v2/ai-agents/receptionist');
    await change('upgrade');
  });
  await check(`${MANY} objects within the memory limits`, async () => {
    const items = Array.from({ length: MANY }, (_, number) => ({
      apiVersion: 'parley.dev/v1beta1',
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
    const wait = ['wait', 'agents', '-l', 'many=true', '--for=condition=Ready', '--timeout=300s'];
    await output([...inOrganization, ...wait], { timeoutMs: 310_000 });
    for (let page = 0; page < 20; page += 1) await rest('/v2/ai-agents');
    const restarts = await output([...inNamespace, 'get', 'pods', '-o', 'jsonpath={.items[*].status.containerStatuses[*].restartCount}']);
    if (/[1-9]/.test(restarts)) throw new Error(`containers were started again: ${restarts}`);
    return memoryOf(kubectl, NAMESPACE);
  });
  await check('helm uninstall: definitions, resources and data stay', async () => {
    await helmIn('uninstall', 'parley', '--wait', '--timeout', '180s');
    await output([...inOrganization, 'get', 'agent', 'receptionist']);
  });
  await check('installed again, it goes on where it was', async () => {
    await change('install');
    env = { ...env, PARLEY_URL: await address() };
    await reading();
  });
}
