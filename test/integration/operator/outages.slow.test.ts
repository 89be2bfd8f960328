import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { leases, ResourceClient, type KubeObject, type Lease, type ResourceDescriptor } from '../../../kube/index.ts';
import { anAgent, aPhoneNumber, aSecret, aTool, aWebhookSubscription } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { parleyEntry, repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf } from '../../support/tcp-proxy.ts';
import { condition, metricTotal, startCluster } from './harness.ts';

interface ClusterRole extends KubeObject {
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

const clusterRoles: ResourceDescriptor = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

const cluster = suiteFixture(startCluster);
const postgres = suiteFixture(() => startProxyOf(cluster.databaseUrl));
let operator: RunningRole | undefined;
const children: ChildProcess[] = [];

afterEach(async () => {
  postgres.restore();
  await operator?.stop();
  operator = undefined;
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function proxied(): string {
  const url = new URL(cluster.databaseUrl);
  url.port = String(postgres.port);
  return url.href;
}

function stateOf(kind: 'Agent' | 'PhoneNumber', org: string, name: string): () => Promise<'there' | 'gone'> {
  return () =>
    cluster.get(kind, org, name).then(
      () => 'there',
      () => 'gone',
    );
}

describe('while Postgres is unavailable', () => {
  it('keeps what serves, says why the change waits, and goes on by itself', async () => {
    operator = await cluster.operator({ env: { DATABASE_URL: proxied(), PARLEY_LOG_LEVEL: 'error' } });
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    const before = await cluster.ready('Agent', org, 'reception');
    postgres.cut();
    await cluster.apply(anAgent('reception', org, { welcomeMessage: 'Hello' }));
    const waiting = await cluster.reason('Agent', org, 'reception', 'Synced', 'StoreUnavailable');
    expect(waiting.status?.['servingRevision']).toBe(before.status?.['servingRevision']);
    expect(condition(waiting, 'Reconciling')?.status).toBe('True');
    expect(condition(waiting, 'Stalled')).toBeUndefined();
    postgres.restore();
    const after = await cluster.ready('Agent', org, 'reception');
    expect(after.status?.['servingRevision']).toBe(after.status?.['desiredRevision']);
  });

  it('starts without it, and leaves ready what is ready', async () => {
    operator = await cluster.operator();
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    const before = await cluster.ready('Agent', org, 'reception');
    await operator.stop();
    postgres.cut();
    operator = await cluster.operator({ env: { DATABASE_URL: proxied(), PARLEY_LOG_LEVEL: 'error' } });
    await cluster.apply(aTool('orders', org));
    await cluster.ready('Tool', org, 'orders');
    const agents = (await cluster.client('Agent').listAll()).items.length;
    await eventually(async () =>
      expect(await metricTotal(operator!.registry, 'controller_runtime_reconcile_total', { controller: 'agent' })).toBeGreaterThanOrEqual(
        agents,
      ),
    );
    expect((await cluster.get('Agent', org, 'reception')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('holds a deleted agent for a bounded time, or until its policy is Orphan', async () => {
    operator = await cluster.operator({ env: { DATABASE_URL: proxied(), PARLEY_LOG_LEVEL: 'error' } });
    const org = await cluster.organization();
    await cluster.apply(anAgent('orderly', org), anAgent('orphan', org));
    await Promise.all([cluster.ready('Agent', org, 'orderly'), cluster.ready('Agent', org, 'orphan')]);
    await cluster.remove('Agent', org, 'orderly');
    await expect.poll(stateOf('Agent', org, 'orderly')).toBe('gone');
    expect(await cluster.store.agentRevisions.servingByName({ org, agentName: 'orderly' })).toBeUndefined();

    postgres.cut();
    await cluster.remove('Agent', org, 'orphan');
    const held = await cluster.until('Agent', org, 'orphan', (object) => condition(object, 'Ready')?.reason === 'Deleting');
    expect(condition(held, 'Ready')?.message).toContain('set spec.deletionPolicy: Orphan');
    await cluster.client('Agent').apply({
      apiVersion: held.apiVersion,
      kind: held.kind,
      metadata: { name: 'orphan', namespace: org, uid: held.metadata.uid },
      spec: { ...anAgent('orphan', org).spec, deletionPolicy: 'Orphan' },
    });
    await expect.poll(stateOf('Agent', org, 'orphan')).toBe('gone');
    const reasonsTold = async (): Promise<readonly unknown[]> =>
      (await cluster.client<never>('Event').list({ namespace: org })).items.map((event) => (event as { readonly reason?: string }).reason);
    await eventually(async () => expect(await reasonsTold()).toContain('Retained'));
  });

  it('lets go after the grace period', async () => {
    operator = await cluster.operator({ env: { DATABASE_URL: proxied(), PARLEY_DELETION_GRACE_MS: '2000', PARLEY_LOG_LEVEL: 'error' } });
    const org = await cluster.organization();
    // The number is as a media server that is no longer configured left it.
    const line = aPhoneNumber('line', '+15550142', org, { type: 'SIP', sip: {}, deletionPolicy: 'Retain' });
    await cluster.apply(anAgent('reception', org), { ...line, metadata: { ...line.metadata, finalizers: ['parley.dev/finalizer'] } });
    await Promise.all([cluster.ready('Agent', org, 'reception'), cluster.ready('PhoneNumber', org, 'line')]);
    postgres.cut();
    await cluster.remove('PhoneNumber', org, 'line');
    await cluster.remove('Agent', org, 'reception');
    await expect.poll(stateOf('PhoneNumber', org, 'line')).toBe('gone');
    await expect.poll(stateOf('Agent', org, 'reception')).toBe('gone');
  });
});

describe('without a permission', () => {
  it('says which one is missing, delays no other organisation, and goes on when it is granted', async () => {
    const roles = new ResourceClient<ClusterRole>({ transport: cluster.transport, descriptor: clusterRoles, fieldManager: 'test' });
    const full = await roles.get({ name: 'parley-operator' });
    await roles.update({ ...full, rules: full.rules.filter(({ resources }) => !resources.includes('secrets')) });
    const org = await cluster.organization();
    operator = await cluster.operator({ env: { PARLEY_LOG_LEVEL: 'silent' } });
    await cluster.apply(
      aSecret('keys', { apiKey: 'x' }, org),
      anAgent('keyed', org, { llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'keys', key: 'apiKey' } } }),
      anAgent('plain', org),
    );
    const refused = await cluster.reason('Agent', org, 'keyed', 'Ready', 'ReferenceForbidden');
    expect(condition(refused, 'Stalled')?.message).toContain(`the operator may not read Secret ${org}/keys`);
    await cluster.ready('Agent', org, 'plain');

    const reduced = await roles.get({ name: 'parley-operator' });
    await roles.update({ ...reduced, rules: full.rules });
    await cluster.ready('Agent', org, 'keyed');
  });
});

describe('while the API server is unavailable', () => {
  it('takes up what changed when it is back', async () => {
    const { port } = new URL(cluster.addresses.server);
    const apiServer = await startProxyOf(cluster.addresses.server);
    const kubeconfig = join(tmpdir(), `kubeconfig-${process.pid}-${apiServer.port}`);
    const text = await readFile(cluster.addresses.kubeconfigs.operator, 'utf8');
    await writeFile(kubeconfig, text.replaceAll(`:${port}`, `:${apiServer.port}`), { mode: 0o600 });
    try {
      operator = await cluster.operator({ env: { KUBECONFIG: kubeconfig, PARLEY_LEADER_ELECTION: 'false', PARLEY_LOG_LEVEL: 'silent' } });
      const org = await cluster.organization();
      await cluster.apply(anAgent('reception', org), aWebhookSubscription('hook', org, { signing: { mode: 'Generated' } }));
      await cluster.ready('Agent', org, 'reception');
      for (let round = 1; round <= 3; round += 1) {
        apiServer.cut();
        await cluster.apply(anAgent('reception', org, { welcomeMessage: `Round ${round}` }), anAgent(`new-${round}`, org));
        const before = apiServer.refused;
        await eventually(() => expect(apiServer.refused).toBeGreaterThan(before));
        apiServer.restore();
        const changed = await cluster.ready('Agent', org, 'reception');
        expect(changed.status?.['servingRevision']).toBe(changed.status?.['desiredRevision']);
        const made = await cluster.ready('Agent', org, `new-${round}`);
        expect(made.metadata.finalizers).toEqual(['parley.dev/finalizer']);
      }
      await operator.stop();
      operator = undefined;
    } finally {
      await apiServer.close();
    }
  });
});

function start(identity: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, [parleyEntry, 'operator'], {
    cwd: repository,
    env: { ...process.env, ...cluster.env({ identity }), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
}

async function holder(): Promise<string | undefined> {
  const client = new ResourceClient<Lease>({ transport: cluster.transport, descriptor: leases, fieldManager: 'test' });
  return (await client.get({ namespace: 'parley-system', name: 'parley-operator' })).spec?.holderIdentity;
}

describe('two operators', () => {
  it('hand over when the leader is killed, and when it stops in order', async () => {
    const org = await cluster.organization();
    const byName = new Map(['one', 'two'].map((identity) => [identity, start(identity)]));
    await cluster.apply(anAgent('reception', org), aWebhookSubscription('hook', org, { signing: { mode: 'Generated' } }));
    await cluster.ready('Agent', org, 'reception');
    await cluster.ready('WebhookSubscription', org, 'hook');
    const secret = await cluster.get('Secret', org, 'webhooksubscription-hook');
    const first = await holder();
    expect(['one', 'two']).toContain(first);

    byName.get(first!)?.kill('SIGKILL');
    await cluster.apply(anAgent('reception', org, { welcomeMessage: 'After the kill' }));
    await cluster.ready('Agent', org, 'reception');
    const second = await holder();
    expect(second).not.toBe(first);

    const port = await freePort();
    start('three', { PARLEY_OPERATOR_PORT: String(port) });
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
    byName.get(second!)?.kill('SIGTERM');
    await cluster.apply(anAgent('reception', org, { welcomeMessage: 'After the stop' }));
    const last = await cluster.ready('Agent', org, 'reception');
    expect(await holder()).toBe('three');
    expect(last.status?.['servingRevision']).toBe(last.status?.['desiredRevision']);
    expect((await cluster.get('Secret', org, 'webhooksubscription-hook')).data).toEqual(secret.data);
  });
});
