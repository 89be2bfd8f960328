/**
 * Starts servers for a run: an API server, Temporal, and a Postgres that waits for its disk as it does in production; a database and an
 * organisation of its own for each part.
 */
import { randomBytes } from 'node:crypto';

import { webhookSubscriptionKind } from '../../../crds/index.ts';
import { createTransport, loadKubeConfig, ResourceClient, type KubeObject } from '../../../kube/index.ts';
import { openStore } from '../../../store/index.ts';
import { readSharedStack } from '../../support/shared-stack.ts';
import { TestStack } from '../../support/test-stack.ts';
import { bundle, ensureBundle } from '../harness/bundle.ts';
import { treeCpuMs } from '../harness/process-tree.ts';
import { createDatabase, startRole, type BenchRole } from '../harness/role.ts';
import { query } from '../../support/sql.ts';
import { startSink, type SinkProcess } from './sink-process.ts';

/** A part works in this organisation and database. */
export interface Site {
  readonly org: string;
  readonly databaseUrl: string;
  /** Environment of the roles. */
  readonly env: Readonly<Record<string, string>>;
  /** Creates subscriptions, which stand when this resolves, signed with a key of the organisation's. */
  subscribe(subscriptions: readonly SubscriptionOptions[]): Promise<void>;
  rows<R extends object>(sql: string): Promise<readonly R[]>;
  close(): Promise<void>;
}

export interface SubscriptionOptions {
  readonly name: string;
  readonly url: string;
  readonly workspace?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface WebhooksHost {
  readonly sink: SinkProcess;
  /** Path of the kubeconfig with the permissions of the api role; those of a site are the dispatcher's. */
  readonly apiKubeconfig: string;
  /** Returns the process id of a server that this run has started. It comes back by itself when it is killed. */
  serverPid(server: 'postgres' | 'temporal'): number | undefined;
  /** Returns what Postgres has used with all its sessions, in milliseconds; NaN where that can't be seen. */
  postgresCpuMs(): number;
  site(): Promise<Site>;
  /** Starts a dispatcher on the bundle, and returns when it is ready. */
  dispatcher(site: Site): Promise<BenchRole>;
  stop(): Promise<void>;
}

interface HostOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly progress: (line: string) => void;
  readonly profileFolder: string | undefined;
}

interface Written extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

const secretDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true } as const;
const namespaceDescriptor = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false } as const;

/** `PARLEY_TEST_STACK` names a running API server; Postgres and Temporal are always of the run's own. */
export async function startHost({ env, progress, profileFolder }: HostOptions): Promise<WebhooksHost> {
  await ensureBundle(progress);
  const own = new TestStack({ durable: true });
  const stopping: (() => Promise<unknown>)[] = [() => own.stop()];
  const stop = async (): Promise<void> => {
    for (const step of stopping.splice(0).toReversed()) await step();
  };
  try {
    progress('starting the servers');
    const controlPlane = readSharedStack(env)?.controlPlane ?? (await own.controlPlane());
    const server = await own.databaseUrl();
    const temporalAddress = await own.temporalAddress();
    const transport = createTransport({ kubeConfig: loadKubeConfig({ path: controlPlane.kubeconfig }) });
    stopping.push(() => transport.close());
    const client = (descriptor: ConstructorParameters<typeof ResourceClient>[0]['descriptor']): ResourceClient<Written> =>
      new ResourceClient<Written>({ transport, descriptor, fieldManager: 'bench' });
    const sink = await startSink();
    stopping.push(() => sink.stop());

    return {
      sink,
      apiKubeconfig: controlPlane.kubeconfigs.api,
      serverPid: (name) => own.pid(name),
      postgresCpuMs: () => treeCpuMs(own.pid('postgres') ?? 0) ?? Number.NaN,
      async site() {
        const name = `bench-${randomBytes(4).toString('hex')}`;
        const database = await createDatabase(server);
        const store = openStore({ databaseUrl: database.url, poolSize: 2, applicationName: 'bench' });
        await store.organizations.create({ name });
        await client(namespaceDescriptor).apply(
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'parley.dev/organization': 'true' } } },
          { force: true },
        );
        const key = Buffer.from(`whsec_${randomBytes(32).toString('base64')}`).toString('base64');
        await client(secretDescriptor).apply(
          { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: name, name: 'signing' }, data: { current: key } },
          { force: true },
        );
        return {
          org: name,
          databaseUrl: database.url,
          env: {
            DATABASE_URL: database.url,
            KUBECONFIG: controlPlane.kubeconfigs.dispatcher,
            TEMPORAL_ADDRESS: temporalAddress,
            TEMPORAL_TASK_QUEUE: name,
            PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
          },
          async subscribe(subscriptions) {
            for (const { name: subscription, url: address, workspace, spec = {} } of subscriptions) {
              await client(webhookSubscriptionKind.descriptor).apply(
                {
                  apiVersion: 'parley.dev/v1beta1',
                  kind: 'WebhookSubscription',
                  metadata: { namespace: name, name: subscription },
                  spec: {
                    url: address,
                    signing: { mode: 'Secret', secretRef: { name: 'signing' } },
                    ...(workspace === undefined ? {} : { scope: { type: 'Workspaces', workspaces: [workspace] } }),
                    ...spec,
                  },
                },
                { force: true },
              );
            }
          },
          rows: <R extends object>(sql: string) => query<R>(database.url, sql),
          async close() {
            await store.close();
            // The subscriptions of a part that is over would still be in every dispatcher's index.
            await client(namespaceDescriptor).delete({ name });
            await database.drop();
            await sink.forget();
          },
        };
      },
      dispatcher: (site) =>
        startRole({
          role: 'dispatcher',
          env: { ...tracesOf(process.env), ...site.env },
          program: {
            file: process.execPath,
            args: [...(profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]), bundle, 'dispatcher'],
          },
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** With OpenTelemetry's variables set, the benchmark measures with traces. */
function tracesOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OTEL_')));
}
