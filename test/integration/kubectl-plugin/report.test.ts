import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anAgent, aSecret, aTool, aWebhookSubscription } from '../../support/builders.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startKubelet, type Kubelet } from './kubelet.ts';
import { condition, deployment, grant, pod, startPlugin } from './plugin.ts';

const plugin = suiteFixture(startPlugin);
let kubelet: Kubelet;
let org: string;
let system: string;

/** Secrets by the place where each is planted. None may be found in a report, in any form. */
const planted = {
  secret: 'canary-secret-4711',
  helmValues: 'canary-helm-4712',
  environment: 'canary-environment-4713',
  environmentAddress: 'canary-address-4714',
  argument: 'canary-argument-4715',
  deploymentAnnotation: 'canary-annotation-4716',
  lastApplied: 'canary-applied-4717',
  header: 'canary-header-4718',
  webhookQuery: 'canary-query-4719',
  webhookPath: 'canary-path-4720',
  webhookPassword: 'canary-user-4721',
  fixedParam: 'canary-param-4722',
  logField: 'canary-field-4723',
  logNested: 'canary-nested-4724',
  logAddress: 'canary-logged-4725',
  logBearer: 'canary-bearer-4726',
  logPlain: 'canary-plain-4727',
  condition: 'canary-condition-4728',
  event: 'canary-event-4729',
  label: 'canary-label-4730',
  keyId: 'canary-key-4733',
  providerPath: 'canary-provider-4734',
  webhookLetters: 'CanaryOfWebhookWithAName',
  headerWord: 'opencanary',
};
const prompts = { prompt: 'canary-prompt-4731', welcome: 'canary-welcome-4732' };

beforeAll(async () => {
  [org, system] = await Promise.all([organizationNamespace('report'), organizationNamespace('reportsystem')]);
  kubelet = await startKubelet(plugin, `node-${system}`);
  const operator = deployment('operator', system, {
    env: [
      { name: 'SOME_PASSPHRASE', value: planted.environment },
      { name: 'DATABASE_URL', value: `postgres://parley:${planted.environmentAddress}@db:5432/parley` },
      { name: 'LIVEKIT_API_KEY', value: planted.keyId },
      { name: 'PARLEY_LOG_LEVEL', value: 'debug' },
      {
        name: 'PARLEY_PROVIDERS',
        value: JSON.stringify([{ name: 'openai', baseURL: `https://proxy.example.com/${planted.providerPath}/v1`, apiKeyEnv: 'OPENAI' }]),
      },
      { name: 'FROM_SECRET', valueFrom: { secretKeyRef: { name: 'database', key: 'url' } } },
    ],
  });
  const { metadata } = operator;
  await plugin.put(
    {
      ...operator,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, team: planted.label },
        annotations: { 'example.com/note': planted.deploymentAnnotation },
      },
    },
    pod('operator', system, { node: kubelet.node, args: ['operator', `--key=${planted.argument}`] }),
    aSecret('keys', { apiKey: planted.secret }, org),
    {
      ...aSecret('sh.helm.release.v1.parley.v3', { release: planted.helmValues }, system),
      metadata: {
        name: 'sh.helm.release.v1.parley.v3',
        namespace: system,
        labels: { owner: 'helm', name: 'parley', status: 'deployed', version: '3', modifiedAt: '1760000000' },
      },
    },
    {
      ...anAgent('reception', org, {
        welcomeMessage: prompts.welcome,
        llm: { provider: 'openai', model: 'gpt-x', systemPrompt: prompts.prompt, apiKeySecretRef: { name: 'keys', key: 'apiKey' } },
        webhookURL: `https://hooks.example.com/services/T01/${planted.webhookPath}`,
      }),
      metadata: {
        name: 'reception',
        namespace: org,
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"x":"${planted.lastApplied}"}}` },
      },
      status: {
        observedGeneration: 1,
        conditions: [condition('Ready', 'False', 'SecretNotFound', `asked https://api.example.com/?key=${planted.condition} in vain`)],
      },
    },
    aTool('orders', org, {
      custom: {
        function: { name: 'orders' },
        http: { url: 'https://shop.example.com/orders', fixedParams: { key: { value: planted.fixedParam } } },
      },
    }),
    aWebhookSubscription('hook', org, {
      url: `https://me:${planted.webhookPassword}@hooks.example.com/in?sig=${planted.webhookQuery}`,
      headers: [
        { name: 'X-Plain', value: planted.header },
        { name: 'X-Word', value: planted.headerWord },
      ],
    }),
    aWebhookSubscription('letters', org, { url: `https://hooks.example.com/services/${planted.webhookLetters}` }),
  );
  await plugin.transport.request({
    method: 'POST',
    path: `/apis/events.k8s.io/v1/namespaces/${org}/events`,
    body: {
      metadata: { name: 'reception.1', namespace: org },
      eventTime: '2026-01-01T00:00:00.000000Z',
      type: 'Warning',
      reason: 'SecretNotFound',
      action: 'Resolve',
      note: `the provider said: invalid api_key: ${planted.event}, and refused ${planted.headerWord} at ${planted.webhookLetters}`,
      reportingController: 'parley.dev/operator',
      reportingInstance: 'x',
      regarding: { apiVersion: 'parley.dev/v1beta1', kind: 'Agent', name: 'reception', namespace: org },
    },
  });
  const line = { level: 'info', time: '2026-01-01T00:00:00.000Z', role: 'operator' };
  kubelet.write(
    'parley-operator-0',
    { ...line, kind: 'Agent', key: `${org}/reception`, msg: 'reconciled' },
    { ...line, apiKey: planted.logField, msg: 'x' },
    { ...line, request: { deep: { deeper: { password: planted.logNested } } }, msg: 'x' },
    {
      ...line,
      level: 'error',
      err: { message: `connect postgres://u:${planted.logAddress}@db failed`, stack: `Error: at postgres://u:${planted.logAddress}@db` },
      msg: 'x',
    },
    { ...line, msg: `sent Authorization: Bearer ${planted.logBearer}` },
    `no JSON: SECRET_TOKEN=${planted.logPlain}`,
    // A value that is masked in one place is masked where nothing names it.
    {
      ...line,
      msg: `somebody prints ${planted.environment} and ${planted.environmentAddress} and ${planted.header} and ${planted.webhookQuery}`,
    },
  );
});
afterAll(() => kubelet?.stop());

async function unpack(file: string): Promise<ReadonlyMap<string, string>> {
  const folder = `${file}.unpacked`;
  await mkdir(folder);
  expect(await run('tar', ['-xzf', file, '-C', folder])).toMatchObject({ code: 0, stderr: '' });
  const paths = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const [root = ''] = await readdir(folder);
  return new Map(
    await Promise.all(files.map(async (path) => [path.slice(join(folder, root).length + 1), await readFile(path, 'utf8')] as const)),
  );
}

function find(files: ReadonlyMap<string, string>, secrets: Readonly<Record<string, string>>): readonly string[] {
  return [...files].flatMap(([path, content]) =>
    Object.entries(secrets).flatMap(([where, secret]) =>
      [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')].some((form) => content.includes(form))
        ? [`${where} in ${path}`]
        : [],
    ),
  );
}

describe('kubectl parley report', () => {
  it('has what is needed to help, and no secret, wherever it stands', async () => {
    const file = join(plugin.folder, 'report.tar.gz');
    const { code, stdout, stderr } = await plugin.kubectl(['parley', 'report', '-n', org, '--system-namespace', system, '--file', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const files = await unpack(file);
    expect(find(files, { ...planted, ...prompts })).toEqual([]);

    expect([...files.keys()].sort()).toEqual([
      'README.txt',
      'definitions.yaml',
      'doctor.txt',
      `events/${org}/agent.json`,
      'installation/deployments.yaml',
      'installation/helm.json',
      'installation/pods.yaml',
      'logs/parley-operator-0.log',
      'organisations.yaml',
      `resources/${org}/agents.yaml`,
      `resources/${org}/tools.yaml`,
      `resources/${org}/webhooksubscriptions.yaml`,
      'status.json',
      'status.txt',
      'versions.json',
    ]);
    for (const path of files.keys()) if (path !== 'README.txt') expect(stdout).toContain(path);
    // Only the secret parts are masked, and the rest is there.
    expect(files.get(`resources/${org}/agents.yaml`)).toMatch(/apiKeySecretRef:\n +key: apiKey\n +name: keys/);
    expect(files.get(`resources/${org}/agents.yaml`)).toContain('model: gpt-x');
    expect(files.get(`resources/${org}/agents.yaml`)).toMatch(/reason: SecretNotFound/);
    expect(files.get(`resources/${org}/webhooksubscriptions.yaml`)).toContain('hooks.example.com');
    expect(files.get('installation/deployments.yaml')).toMatch(/name: PARLEY_LOG_LEVEL\n +value: debug/);
    expect(files.get('installation/deployments.yaml')).toContain('https://proxy.example.com/********/v1');
    expect(files.get('installation/deployments.yaml')).toMatch(/secretKeyRef:\n +name: database\n +key: url/);
    expect(JSON.parse(files.get('installation/helm.json') ?? '')).toMatchObject([
      { name: 'parley', revisions: [{ revision: 3, status: 'deployed' }] },
    ]);
    expect(files.get('logs/parley-operator-0.log')).toContain(`"key":"${org}/reception"`);
    expect(files.get('doctor.txt')).toContain('Kubernetes API');
    expect(files.get('status.txt')).toContain('agent/reception: SecretNotFound');
  });

  it('has prompts for who asks for them, and no logs for who wants none', async () => {
    const file = join(plugin.folder, 'with-prompts.tar.gz');
    // The new report is as private as if there had been no older one.
    await writeFile(file, 'an older report', { mode: 0o644 });
    const args = ['report', '-n', org, '--system-namespace', system, '--with-prompts', '--no-logs', '--file', file];
    expect(await plugin.parley(args)).toMatchObject({ code: 0 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const files = await unpack(file);
    expect(find(files, planted)).toEqual([]);
    expect(find(files, prompts)).toEqual([`prompt in resources/${org}/agents.yaml`, `welcome in resources/${org}/agents.yaml`]);
    expect([...files.keys()].filter((path) => path.startsWith('logs/'))).toEqual([]);
  });

  it('says what is missing in it for somebody who may not see everything', async () => {
    const user = `reporter-of-${org}`;
    await plugin.put(...grant(user, org, { apiGroups: ['parley.dev'], resources: ['*'], verbs: ['get', 'list'] }));
    const file = join(plugin.folder, 'limited.tar.gz');
    const answer = await plugin.parley(['report', '-n', org, '--system-namespace', system, '--as', user, '--file', file]);
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.stdout).toMatch(/Missing in it:[\s\S]*you may not list .*pods.* in the namespace/);
    const files = await unpack(file);
    expect(files.get(`resources/${org}/agents.yaml`)).toContain('SecretNotFound');
    expect(files.get('README.txt')).toContain('Missing in it:');
    const unwritable = await plugin.parley(['report', '-n', org, '--no-logs', '--as', user, '--file', '/nonexistent/x.tar.gz']);
    expect(unwritable).toMatchObject({ code: 1, stderr: expect.stringMatching(/can't be written[\s\S]*→ .*--file/) });
  });
});
