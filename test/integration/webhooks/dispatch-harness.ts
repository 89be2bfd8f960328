/** Runs subscriptions in a real API server, events in a real Postgres, and dispatchers in this process or as processes of their own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { onTestFinished } from 'vitest';

import { webhookSubscriptionKind } from '../../../crds/index.ts';
import { runDispatcher } from '../../../webhooks/dispatcher/main.ts';
import { createTransport, loadKubeConfig, ResourceClient, type KubeObject, type Stored } from '../../../kube/index.ts';
import { insertEvents, type Store } from '../../../store/index.ts';
import { buildEvent } from '../../../events/emit.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { spawnRole, type RoleProcess } from '../../support/role-process.ts';
import { startRole, type RunningRole } from '../../support/running-role.ts';
import { startProxyOf, type TcpProxy } from '../../support/tcp-proxy.ts';
import { startWebhookSink, type WebhookSink } from '../../support/webhook-sink.ts';

interface Subscription extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface DeliveryRow {
  readonly state: string;
  readonly reason: string | null;
  readonly attempts: number;
  readonly event_id: string;
  readonly subscription_uid: string;
}

/** Subscriptions and events of one organisation. */
interface Organization {
  readonly org: string;
  /** Creates or changes a subscription to `path` of the sink, with one attempt and a long timeout: a slow machine fails nothing. */
  subscribe(name: string, spec?: Readonly<Record<string, unknown>>, path?: string): Promise<Stored<Subscription>>;
  unsubscribe(name: string): Promise<void>;
  secret(name: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** Sends a test event as `parley webhooks test` does. @returns its id as a receiver sees it */
  test(uid: string): Promise<string>;
  /** Commits so many events. @returns their ids as a receiver sees them */
  emit(count: number, options?: { readonly atOnce?: number }): Promise<readonly string[]>;
}

export interface DispatchHarness extends Organization {
  readonly store: Store;
  readonly sink: WebhookSink;
  readonly env: Readonly<Record<string, string>>;
  /** Makes another organisation next to the first. */
  organization(): Promise<Organization>;
  dispatcher(env?: Readonly<Record<string, string>>): Promise<RunningRole>;
  process(env?: Readonly<Record<string, string>>): Promise<RoleProcess>;
  sql<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>;
  deliveries(uid?: string): Promise<DeliveryRow[]>;
  /** Counts the deliveries in each state. */
  states(uid?: string): Promise<Readonly<Record<string, number>>>;
}

/** Everything goes with the test that asked for it. */
export async function dispatchHarness(more: Readonly<Record<string, string>> = {}): Promise<DispatchHarness> {
  const [{ url }, addresses, sink] = await Promise.all([migratedDatabase(), controlPlane(), startWebhookSink()]);
  const env: Record<string, string> = {
    DATABASE_URL: url,
    KUBECONFIG: addresses.kubeconfigs.dispatcher,
    // No server listens there: what needs Temporal waits, and nothing else does.
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    PARLEY_DISPATCHER_PORT: '0',
    PARLEY_LOG_LEVEL: 'error',
    ...more,
  };
  const store = openPatientStore(url);
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: addresses.kubeconfig }) });
  const client = new ResourceClient<Subscription>({ transport, descriptor: webhookSubscriptionKind.descriptor, fieldManager: 'test' });
  const secrets = new ResourceClient<KubeObject & { readonly data: Readonly<Record<string, string>> }>({
    transport,
    descriptor: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
    fieldManager: 'test',
  });
  const sqlClient = new Client({ connectionString: url });
  await sqlClient.connect();
  onTestFinished(async () => {
    await sqlClient.end();
    await store.close();
    await transport.close();
    await sink.close();
  });

  const organization = async (): Promise<Organization> => {
    const org = await organizationNamespace('hooks');
    await store.organizations.create({ name: org });
    return {
      org,
      subscribe: (name, spec = {}, path = `/${name}`) =>
        client.apply(
          {
            apiVersion: 'parley.dev/v1beta1',
            kind: 'WebhookSubscription',
            metadata: { namespace: org, name },
            spec: { url: sink.url(path), requestTimeout: '30s', retryPolicy: { maxRetries: 0 }, ...spec },
          },
          { force: true },
        ),
      async unsubscribe(name) {
        await client.delete({ namespace: org, name });
      },
      async secret(name, values) {
        const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
        await secrets.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: org, name }, data }, { force: true });
      },
      async test(uid) {
        const event = buildEvent({ name: 'Webhook.Test', org, payload: { subscription_id: uid }, onlySubscription: uid, now: Date.now() });
        await store.database.asOrganization(org, (transaction) => insertEvents(transaction, [event]));
        return `evt_${event.id}`;
      },
      async emit(count, { atOnce = 100 } = {}) {
        const ids: string[] = [];
        for (let from = 0; from < count; from += atOnce) {
          const events = Array.from({ length: Math.min(atOnce, count - from) }, () =>
            buildEvent({
              name: 'CallHandler.CallStarted',
              org,
              payload: { call_id: randomBytes(8).toString('hex'), agent_id: 'agent-1', status: 'ongoing', call_type: 'web_call' },
              now: Date.now(),
            }),
          );
          await store.database.asOrganization(org, (transaction) => insertEvents(transaction, events));
          ids.push(...events.map(({ id }) => `evt_${id}`));
        }
        return ids;
      },
    };
  };

  const harness: DispatchHarness = {
    ...(await organization()),
    organization,
    store,
    sink,
    env,
    async dispatcher(own = {}) {
      const role = await startRole('dispatcher', runDispatcher, { ...env, ...own });
      onTestFinished(() => role.stop());
      return role;
    },
    process: async (own = {}) => spawnRole('dispatcher', { ...env, ...own }),
    async sql<R extends object>(text: string, values: readonly unknown[] = []) {
      return (await sqlClient.query<R>(text, [...values])).rows;
    },
    deliveries: (uid) =>
      harness.sql<DeliveryRow>(
        'SELECT state, reason, attempts, event_id, subscription_uid FROM parley.deliveries WHERE $1::text IS NULL OR subscription_uid = $1 ORDER BY id',
        [uid ?? null],
      ),
    async states(uid) {
      const rows = await harness.sql<{ state: string; count: number }>(
        'SELECT state, count(*)::int AS count FROM parley.deliveries WHERE $1::text IS NULL OR subscription_uid = $1 GROUP BY state',
        [uid ?? null],
      );
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },
  };
  return harness;
}

/** Waits until all deliveries are in these states and in no other. */
export async function settled(harness: DispatchHarness, expected: Readonly<Record<string, number>>, uid?: string): Promise<void> {
  await eventually(async () => {
    const states = await harness.states(uid);
    if (JSON.stringify(sorted(states)) !== JSON.stringify(sorted(expected))) throw new Error(`deliveries are ${JSON.stringify(states)}`);
  });
}

const sorted = (record: Readonly<Record<string, number>>): readonly (readonly [string, number])[] =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Makes a kubeconfig that leads to the API server through a proxy, so that it can be taken away from its reader alone. */
export async function proxiedKubeconfig(path: string): Promise<{ readonly kubeconfig: string; readonly proxy: TcpProxy }> {
  const text = await readFile(path, 'utf8');
  const [, server = ''] = /server: "?(https:[^\s"]+)/.exec(text) ?? [];
  const proxy = await startProxyOf(server);
  const folder = await mkdtemp(join(tmpdir(), 'parley-proxied-'));
  onTestFinished(async () => {
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, text.replace(server, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 });
  return { kubeconfig, proxy };
}
