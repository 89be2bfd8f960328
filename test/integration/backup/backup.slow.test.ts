/** An installation is lost with everything that it had, and comes back from its backup. */
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import { expect, it, onTestFinished } from 'vitest';

import { runApi } from '../../../api/main.ts';
import { explainerOf } from '../../../cli/kubectl/explain/over-rest.ts';
import { recordingKey } from '../../../calls/names.ts';
import { kinds } from '../../../crds/index.ts';
import { runDispatcher } from '../../../webhooks/dispatcher/main.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { runOperator } from '../../../operator/main.ts';
import { loadConfig, type Config } from '../../../platform/config/config.ts';
import { createLogger, type Logger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { migrate } from '../../../store/index.ts';
import { aConfigMap, aKnowledgeBase, anAgentRequest } from '../../support/builders.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { database, openPatientStore } from '../../support/postgres.ts';
import { run } from '../../support/run.ts';
import { query } from '../../support/sql.ts';
import { parleyEntry } from '../../support/stack.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { startWebhookSink } from '../../support/webhook-sink.ts';
import { startWorker } from '../knowledge/harness.ts';
import { unique } from '../workflows/support.ts';

type Run = (options: {
  readonly config: Config;
  readonly logger: Logger;
  readonly registry: ReturnType<typeof createRegistry>;
  readonly signal: AbortSignal;
}) => Promise<void>;
const roles = { operator: runOperator, api: (options) => runApi(options, { explainerOf }), dispatcher: runDispatcher } satisfies Readonly<
  Record<string, Run>
>;

interface Installation {
  readonly env: Readonly<Record<string, string>>;
  readonly files: string;
  start(...names: readonly (keyof typeof roles)[]): Promise<void>;
  stop(): Promise<void>;
  sql<R extends object>(text: string): Promise<readonly R[]>;
  /** Runs the command and returns what it says on both streams. */
  parley(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }>;
}

/** Makes an installation with a database and a folder of its own; of the cluster, it has one namespace. */
async function installation(org: string): Promise<Installation> {
  const [{ url }, { kubeconfig, kubeconfigs }, port, files] = await Promise.all([
    database(),
    controlPlane(),
    freePort(),
    mkdtemp(join(tmpdir(), 'parley-files-')),
  ]);
  const env = {
    DATABASE_URL: url,
    KUBECONFIG: kubeconfig,
    STORAGE_URL: pathToFileURL(files).href,
    TEMPORAL_ADDRESS: await temporalAddress(),
    TEMPORAL_TASK_QUEUE: unique('backup'),
    PARLEY_NAMESPACE: org,
    PARLEY_LEADER_ELECTION: 'false',
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    PARLEY_API_PORT: String(port),
    ...Object.fromEntries(['OPERATOR', 'WORKER', 'DISPATCHER'].map((role) => [`PARLEY_${role}_PORT`, '0'])),
  };
  const running: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(running.splice(0).map((end) => end())));
  onTestFinished(async () => {
    await stop();
    await rm(files, { recursive: true, force: true });
  });
  return {
    env,
    files,
    stop,
    async start(...names) {
      for (const role of names) {
        const stopping = new AbortController();
        const config = loadConfig({ ...env, KUBECONFIG: kubeconfigs[role] });
        const ended = roles[role]({
          config,
          logger: createLogger({ role, level: 'error' }),
          registry: createRegistry({ role, version: 'test' }),
          signal: stopping.signal,
        });
        running.push(async () => {
          stopping.abort();
          await ended;
        });
      }
      if (!names.includes('api')) return;
      await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
    },
    sql: (text) => query(url, text),
    async parley(...args) {
      const { code, stdout, stderr } = await run(process.execPath, [parleyEntry, ...args], {
        env: { ...process.env, ...env },
      });
      return { code: code ?? -1, said: stdout + stderr };
    },
  };
}

/** Finds deliveries whose subscription has no name. */
const NAMELESS = `SELECT FROM parley.deliveries d
  WHERE NOT EXISTS (SELECT FROM parley.webhook_names n WHERE n.subscription_uid = d.subscription_uid)`;

const lasting = (config: unknown): unknown => {
  const { versions: _versions, ...rest } = config as { readonly versions: unknown };
  return rest;
};

it('brings back agents in service, search, keys, recordings, secrets and deliveries, and sends nothing twice', async () => {
  const plane = await controlPlane();
  const org = await organizationNamespace('lost');
  const [home, sink, scratch] = await Promise.all([installation(org), startWebhookSink(), mkdtemp(join(tmpdir(), 'parley-backup-'))]);
  onTestFinished(async () => {
    await sink.close();
    await rm(scratch, { recursive: true, force: true });
  });
  const kubectl = async (args: readonly string[], input?: object): Promise<string> => {
    const { code, stdout, stderr } = await run(plane.kubectl, [`--kubeconfig=${plane.kubeconfig}`, '-n', org, ...args], {
      ...(input && { input: JSON.stringify(input) }),
    });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  await migrate({ databaseUrl: home.env['DATABASE_URL'] ?? '' });
  const store = openPatientStore(home.env['DATABASE_URL'] ?? '');
  await store.organizations.create({ name: org });
  const { apiKey } = await store.apiKeys.create({ org, name: 'first', permissions: ['*'], expirationDays: 30 });
  const ask = async (from: Installation, method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${from.env['PARLEY_API_PORT']}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const content = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      content,
      body: (isJson ? JSON.parse(content.toString()) : {}) as Readonly<Record<string, unknown>>,
    };
  };

  // The organisation gets everything, made over REST and by kubectl.
  const [worker] = await Promise.all([
    startWorker({ ...home.env, KUBECONFIG: plane.kubeconfigs.worker }),
    home.start('operator', 'api', 'dispatcher'),
  ]);
  const agent = await ask(home, 'POST', '/v2/ai-agents', anAgentRequest('Receptionist', { webhook_url: sink.url('/agent') }));
  expect(agent.status, agent.content.toString()).toBe(201);
  const agentId = agent.body['ai_agent_id'] as string;
  const hook = await ask(home, 'POST', '/v1/public/webhook/subscription', {
    name: 'Orders',
    url: sink.url('/orders'),
    enable_signed_webhooks: true,
    // Agent.RevisionServed is left out: a restored agent is another object, whose revision goes into service.
    events: ['CallHandler.CallStarted', 'KnowledgeBase.DocumentCompleted'],
    retry_policy: { maxRetryAttempts: 0 },
  });
  expect(hook.status, hook.content.toString()).toBe(201);
  const hookId = hook.body['id'] as string;
  await kubectl(
    ['apply', '--server-side', '-f', '-'],
    aConfigMap('handbook', { text: 'The northern gate is opened with a code of four digits.' }),
  );
  await kubectl(
    ['apply', '--server-side', '-f', '-'],
    aKnowledgeBase('manuals', undefined, {
      sources: [{ name: 'handbook', type: 'ConfigMap', configMap: { name: 'handbook', key: 'text' } }],
    }),
  );
  const search = (from: Installation) =>
    ask(from, 'POST', '/api/v1/vector/search', { knowledge_base_id: 'manuals', query: 'how does the gate open?', top_k: 1 });
  await eventually(async () => expect(JSON.stringify((await search(home)).body)).toContain('northern gate'));
  const served = (id = agentId) => kubectl(['get', 'agents', id, '-o', 'jsonpath={.status.servingRevision}']);
  await eventually(async () => expect(await served()).toMatch(/^[0-9a-f]{64}$/));
  // The last change of this agent was rolled back.
  const desk = (await ask(home, 'POST', '/v2/ai-agents', anAgentRequest('Desk'))).body['ai_agent_id'] as string;
  await eventually(async () => expect(await served(desk)).toMatch(/^[0-9a-f]{64}$/));
  const good = await served(desk);
  await ask(home, 'PUT', `/v2/ai-agents/${desk}`, { llm: { system_prompt: 'Be rude.' } });
  await eventually(async () => expect(await served(desk)).not.toBe(good));
  expect((await ask(home, 'POST', `/v2/ai-agents/${desk}/rollback`, { reason: 'rude' })).status).toBe(200);
  const release = async (from: Installation) => (await ask(from, 'GET', `/v2/ai-agents/${desk}/release`)).body;
  const revisions = async (from: Installation) => (await ask(from, 'GET', `/v2/ai-agents/${desk}/revisions`)).body;
  const rolledBack = { release: await release(home), revisions: await revisions(home) };
  const secretOf = () => kubectl(['get', 'secrets', '-o', 'json']);
  type Secrets = { items: { metadata: { name: string; ownerReferences?: { kind: string }[] }; data: Record<string, string> }[] };
  const signing = async () =>
    (JSON.parse(await secretOf()) as Secrets).items
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'WebhookSubscription'))
      .map(({ metadata, data }) => ({ name: metadata.name, data }));
  const before = { signing: await signing(), spec: await kubectl(['get', 'agents', agentId, '-o', 'jsonpath={.spec}']) };
  expect(before.signing).toHaveLength(1);

  // A call is over, with its recording and its events.
  const audio = randomBytes(200_000);
  const storage = openFileStorage({ url: home.env['STORAGE_URL'] ?? '' });
  const serving = await store.agentRevisions.servingByName({ org, agentName: agentId });
  const callId = 'call_01234567-89ab-7cde-8f01-23456789abcd';
  const call = { org, id: callId, events: () => [] };
  await home.sql(`INSERT INTO parley.calls (org, id, call_type, status, agent_name, agent_display_name, revision, max_duration_ms, room)
    VALUES ('${org}', '${callId}', 'web_call', 'registered', '${agentId}', 'Receptionist', '${serving?.revision}', 60000, '${callId}')`);
  const key = recordingKey(org, callId);
  const { bytes } = await storage.put(key, Readable.from([audio]), { maxBytes: 1_000_000 });
  await store.calls.calls.addRecording({ ...call, key, bytes, durationMs: 60_000 });
  await store.calls.calls.end({ ...call, reason: 'user_ended_call' });
  const tested = await home.parley('events', 'emit', '--name', 'CallHandler.CallStarted', '--org', org, '--agent', agentId);
  expect(tested.code, tested.said).toBe(0);
  await eventually(async () => expect(sink.received('/orders').length).toBeGreaterThan(0));
  const deliveriesOf = async (from: Installation) =>
    from.sql<{ state: string; attempts: number; id: string }>('SELECT id::text, state, attempts FROM parley.deliveries ORDER BY id');
  await eventually(async () => {
    const all = await deliveriesOf(home);
    expect(all.length).toBeGreaterThan(0);
    expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['succeeded']));
    // The names of all are written down, which a sweep does.
    expect(await home.sql(NAMELESS)).toEqual([]);
    expect(await home.sql('SELECT FROM parley.outbox')).toEqual([]);
  });
  const sentBefore = await deliveriesOf(home);

  // The backup is made while the installation runs, and refused into a folder that is not empty, and into an installation that is at work.
  const folder = join(scratch, 'backup');
  const made = await home.parley('backup', folder);
  expect(made.code, made.said).toBe(0);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  // The files are private by themselves, too: the folder may have been there before, with other permissions.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) expect((await stat(path)).mode & 0o777, path).toBe(0o600);
  }
  expect((await home.parley('backup', folder)).said).toContain('is not empty');
  const busy = await home.parley('restore', folder, '--force');
  expect(busy.code).toBe(1);
  expect(busy.said).toContain('parley operator');
  await Promise.all([home.stop(), worker.stop(), store.close()]);
  const lived = await home.parley('restore', folder);
  expect([lived.code, lived.said]).toEqual([1, expect.stringContaining('has 1 organisations already')]);

  // Everything is lost: the objects, the database, the files.
  for (const { descriptor } of kinds) {
    for (const name of (await kubectl(['get', descriptor.plural, '-o', 'name'])).split('\n').filter((line) => line !== ''))
      await kubectl(['patch', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    await kubectl(['delete', descriptor.plural, '--all']);
  }
  await kubectl(['delete', 'secrets,configmaps', '--all']);
  sink.clear();
  const restored = await installation(org);

  // A damaged backup is refused before anything is written.
  const dump = await readFile(join(folder, 'schema.dump'));
  await appendFile(join(folder, 'schema.dump'), 'x');
  expect((await restored.parley('restore', folder)).said).toMatch(/is damaged: schema\.dump/);
  await truncate(join(folder, 'schema.dump'), dump.length);
  const manifest = await readFile(join(folder, 'backup.json'), 'utf8');
  await writeFile(join(folder, 'backup.json'), manifest.replace('"0001_schema"', '"9001_of_tomorrow"'));
  expect((await restored.parley('restore', folder)).said).toContain('9001_of_tomorrow');
  await writeFile(join(folder, 'backup.json'), manifest);

  // The only organisation of an installation needs no label, and gets none.
  await kubectl(['label', 'namespace', org, 'parley.dev/organization-']);
  const back = await restored.parley('restore', folder);
  expect(back.code, back.said).toBe(0);
  expect(await kubectl(['get', 'namespace', org, '-o', 'jsonpath={.metadata.labels}'])).not.toContain('parley.dev/organization');
  await restored.start('operator', 'api', 'dispatcher');

  expect((await ask(restored, 'GET', `/v2/ai-agents/${agentId}`)).status).toBe(200);
  await eventually(async () => expect(await served()).toMatch(/^[0-9a-f]{64}$/));
  expect(await kubectl(['get', 'agents', agentId, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'])).toBe('True');
  expect(JSON.parse(await kubectl(['get', 'agents', agentId, '-o', 'jsonpath={.spec}']))).toEqual(JSON.parse(before.spec));
  await eventually(async () => expect(JSON.stringify((await search(restored)).body)).toContain('northern gate'));
  // Nothing is read again: the sources are what they were.
  await eventually(async () =>
    expect(await kubectl(['get', 'knowledgebases', 'manuals', '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'])).toBe(
      'True',
    ),
  );
  expect(await restored.sql('SELECT status FROM parley.documents')).toEqual([{ status: 'completed' }]);
  await eventually(async () => expect(await served(desk)).toBe(good));
  expect(await kubectl(['get', 'agents', desk, '-o', 'jsonpath={.status.conditions[?(@.type=="Progressing")].reason}'])).toBe('RolledBack');
  expect(await release(restored)).toEqual(rolledBack.release);
  expect(await revisions(restored)).toEqual(rolledBack.revisions);
  // The served revisions say the same; which Secrets and which knowledge base they were made from is another matter in another cluster.
  const servedNow = await restored.sql(
    `SELECT config - 'versions' AS config FROM parley.agent_serving JOIN parley.agent_revisions USING (org, agent_name, revision)
       WHERE retired_at IS NULL AND agent_serving.agent_name = '${agentId}'`,
  );
  expect(servedNow).toEqual([{ config: lasting(serving?.config) }]);
  const recording = await ask(restored, 'POST', '/v1/call-recording/download', { call_id: callId });
  expect([recording.status, recording.content.equals(audio)]).toEqual([200, true]);
  expect((await ask(restored, 'GET', `/v1/calls/${callId}`)).body).toMatchObject({ call_status: 'ended', _id: callId });
  expect(await signing()).toEqual(before.signing);
  // The facade owns the agent as before: changes over REST go on.
  const changed = await ask(restored, 'PUT', `/v2/ai-agents/${agentId}`, anAgentRequest('Concierge', { webhook_url: sink.url('/agent') }));
  expect(changed.status, changed.content.toString()).toBe(200);

  // The deliveries of before are those of the subscription as it is now; only new events are sent.
  const now = JSON.parse(await kubectl(['get', 'webhooksubscriptions', hookId, '-o', 'json'])) as { metadata: { uid: string } };
  await eventually(async () => {
    expect(
      await restored.sql(`SELECT FROM parley.webhook_names WHERE name = '${hookId}' AND subscription_uid = '${now.metadata.uid}'`),
    ).toHaveLength(1);
  });
  const listed = await ask(restored, 'GET', `/v1/public/webhook/subscription/${hookId}/deliveries`);
  expect(listed.status, listed.content.toString()).toBe(200);
  expect(await deliveriesOf(restored)).toEqual(sentBefore);
  await eventually(async () => expect(await restored.sql(NAMELESS)).toEqual([]));
  expect(sink.received()).toEqual([]);
  const again = await restored.parley('events', 'emit', '--name', 'CallHandler.CallStarted', '--org', org, '--agent', agentId);
  expect(again.code, again.said).toBe(0);
  await eventually(async () => expect(sink.received('/orders')).toHaveLength(1));
});
