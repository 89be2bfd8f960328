/** Starts a facade on real servers, listening on a port of its own, and makes organisations and keys. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';

import { Registry } from 'prom-client';
import { expect } from 'vitest';

import { runDispatcher } from '../../../webhooks/dispatcher/main.ts';
import { buildApi } from '../../../api/app.ts';
import type { ApiDependencies, Limits } from '../../../api/dependencies.ts';
import { createContext, type KindContext } from '../../../api/kinds/context.ts';
import { SigningKeys } from '../../../api/signing/signing-keys.ts';
import { explainerOf } from '../../../cli/kubectl/explain/over-rest.ts';
import { createAddressChecks } from '../../../calls/address-checks.ts';
import { createTransport, loadKubeConfig, type Transport } from '../../../kube/index.ts';
import type { KubernetesTimeouts } from '../../../api/resources/kubernetes-timeouts.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { Readiness } from '../../../platform/lifecycle.ts';
import { createLogger } from '../../../platform/logging.ts';
import type { Permission, Store } from '../../../store/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { documentedAnswers } from '../../support/documented-answers.ts';
import { eventually } from '../../support/eventually.ts';
import { unlimited } from '../../support/limits.ts';
import { noCalls } from '../../support/no-calls.ts';
import { noKnowledge } from '../../support/no-knowledge.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { migratedDatabase, openPatientStore, type TestDatabase } from '../../support/postgres.ts';
import { testSigning } from '../../support/signing.ts';
import { startRole, type RunningRole } from '../../support/running-role.ts';
import { startProxyOf, type TcpProxy } from '../../support/tcp-proxy.ts';

const run = promisify(execFile);

/** Receivers of tests listen on this machine. */
export const localAddresses = createAddressChecks(loadConfig({ PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }));

/** Every answer that a test gets is compared with the OpenAPI document. */
const checkAnswer = documentedAnswers();

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests look freely into answers.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Facade {
  readonly url: string;
  readonly store: Store;
  readonly database: Pick<TestDatabase, 'url'>;
  readonly transport: Transport;
  readonly registry: Registry;
  /** Returns everything that was logged. */
  log(): string;
  call(method: string, path: string, options?: CallOptions): Promise<RestAnswer>;
  close(): Promise<void>;
}

export interface FacadeOptions {
  /** Database of another facade, for a second replica. */
  readonly database?: Pick<TestDatabase, 'url'> | undefined;
  /** Path of a kubeconfig; that of the shared control plane where absent. */
  readonly kubeconfig?: string | undefined;
  /** Comes between the facade and the API server. */
  readonly wrap?: ((transport: Transport) => Transport) | undefined;
  /** Limits; where absent, the number of requests has none. */
  readonly limits?: Limits | undefined;
  /** Dependencies of suites of knowledge bases; the others need none of it. */
  readonly knowledge?: ((store: Store) => ApiDependencies['knowledge']) | undefined;
  /** Dependencies of suites of calls. */
  readonly calls?: Partial<ApiDependencies['calls']> | undefined;
  readonly clock?: Clock | undefined;
  /** Timeouts towards the API server; patient where absent. */
  readonly kubernetesTimeouts?: KubernetesTimeouts | undefined;
  /** True, the default, gives the headers of a request a long time. */
  readonly patientWithHeaders?: boolean | undefined;
  /** True, the default, waits until the watches are open; false where `wrap` keeps the API server away. */
  readonly ready?: boolean | undefined;
}

/** A busy machine that takes long is no failure: these only distinguish "never" from "not yet". */
const patientTimeouts: KubernetesTimeouts = { answerMs: 600_000, probeMs: 120_000, catchUpMs: 120_000 };

export async function startFacade({
  database: shared,
  kubeconfig,
  wrap = (transport) => transport,
  limits = unlimited,
  knowledge = () => noKnowledge,
  calls,
  clock = systemClock,
  kubernetesTimeouts = patientTimeouts,
  patientWithHeaders = true,
  ready = true,
}: FacadeOptions = {}): Promise<Facade> {
  const api = kubeconfig ?? (await controlPlane()).kubeconfigs.api;
  const db: TestDatabase = shared === undefined ? await migratedDatabase() : { ...shared, drop: async () => undefined };
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const logger = createLogger({ role: 'api', level: 'debug', destination });
  const registry = new Registry();
  const store = openPatientStore(db.url, { poolSize: 10, logger });
  const transport = wrap(createTransport({ kubeConfig: loadKubeConfig({ path: api }), registry, logger }));
  const readiness = new Readiness();
  const app = buildApi({
    store,
    transport,
    logger,
    registry,
    readiness,
    clock,
    random: Math.random,
    signing: new SigningKeys({ given: [], stored: () => store.signingSecret() }),
    limits,
    kubernetesTimeouts,
    knowledge: knowledge(store),
    addresses: localAddresses,
    calls: { ...noCalls, ...calls },
    explain: explainerOf(transport, 'parley-system', systemClock),
    mcp: true,
  });
  if (patientWithHeaders) app.server.headersTimeout = 600_000;
  await app.listen({ host: '127.0.0.1', port: 0 });
  // A list that is read before the watch behind it is open may miss what was written just now.
  if (ready) await eventually(() => expect(readiness.reasons).toEqual([]), 10);
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    store,
    database: db,
    transport,
    registry,
    log: () => lines.join(''),
    call: (method, path, options) => call(url, method, path, options),
    async close() {
      await app.close();
      await transport.close();
      await store.close();
      await db.drop();
    },
  };
}

/** Returns the context of a facade's parts that are tried by themselves. */
export function aContext(change: Pick<Facade, 'store' | 'transport'> & Partial<Parameters<typeof createContext>[0]>): KindContext {
  return createContext({
    clock: systemClock,
    random: Math.random,
    logger: createLogger({ role: 'test', level: 'silent' }),
    registry: new Registry(),
    readiness: new Readiness(),
    signing: testSigning(),
    limits: unlimited,
    kubernetesTimeouts: patientTimeouts,
    addresses: localAddresses,
    ...change,
  });
}

/** Starts a second replica of a facade, which reaches the API server through a proxy; closing it closes the proxy as well. */
export async function startProxiedFacade({ database, transport }: Facade): Promise<{ readonly behind: Facade; readonly proxy: TcpProxy }> {
  const kubeConfig = loadKubeConfig({ path: (await controlPlane()).kubeconfigs.api });
  const proxy = await startProxyOf(transport.server);
  const [cluster] = kubeConfig.getClusters();
  kubeConfig.clusters = [{ ...cluster!, server: `https://127.0.0.1:${proxy.port}` }];
  const kubernetesTimeouts = { ...patientTimeouts };
  const behind = await startFacade({ database, wrap: () => createTransport({ kubeConfig }), kubernetesTimeouts });
  /** Takes a server away: the question whether it is there need not wait for long. */
  const takenAway = (take: () => void) => (): void => {
    kubernetesTimeouts.probeMs = 500;
    take();
  };
  const close = async (): Promise<void> => {
    await behind.close();
    await proxy.close();
  };
  const restore = (): void => {
    kubernetesTimeouts.probeMs = patientTimeouts.probeMs;
    proxy.restore();
  };
  return {
    behind: { ...behind, close },
    proxy: { ...proxy, cut: takenAway(() => proxy.cut()), stall: takenAway(() => proxy.stall()), restore },
  };
}

async function call(url: string, method: string, path: string, { body, key, headers }: CallOptions = {}): Promise<RestAnswer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body:
        typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData
          ? (body as NonNullable<RequestInit['body']>)
          : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  // Every route that any suite asks stores an answer to a key nowhere, and declares its type.
  const [sniffing, caching] = ['x-content-type-options', 'cache-control'].map((name) => response.headers.get(name));
  if (sniffing !== 'nosniff' || (key !== undefined && response.status < 400 && caching?.includes('no-store') !== true))
    throw new Error(`${method} ${path} answers with X-Content-Type-Options ${sniffing} and Cache-Control ${caching}`);
  const json = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  const answer = { status: response.status, headers: response.headers, text, body: json && text !== '' ? JSON.parse(text) : undefined };
  checkAnswer({ method, path, status: answer.status, contentType: response.headers.get('content-type'), body: answer.body });
  return answer;
}

export interface TestOrganization {
  readonly name: string;
  /** Key with every permission. */
  readonly key: string;
  keyWith(...permissions: Permission[]): Promise<string>;
  /** Calls the facade with this organisation's key. */
  call(method: string, path: string, body?: unknown, options?: Omit<CallOptions, 'body'>): Promise<RestAnswer>;
}

export async function organization(facade: Facade): Promise<TestOrganization> {
  const name = await organizationNamespace('api');
  await facade.store.organizations.create({ name });
  const keyWith = async (...permissions: Permission[]): Promise<string> => {
    const { apiKey } = await facade.store.apiKeys.create({
      org: name,
      name: 'test',
      permissions,
      expirationDays: 365,
      userId: 'user-1',
    });
    return apiKey;
  };
  const key = await keyWith('*');
  return {
    name,
    key,
    keyWith,
    call: (method, path, body, options) => facade.call(method, path, { key, ...(body !== undefined && { body }), ...options }),
  };
}

/** Runs kubectl as the cluster's administrator, with an object on its standard input. */
export async function kubectl(args: readonly string[], input?: unknown): Promise<string> {
  const { kubeconfig, kubectl: binary } = await controlPlane();
  const running = run(binary, [`--kubeconfig=${kubeconfig}`, ...args], { maxBuffer: 64 * 1024 * 1024 });
  // kubectl doesn't wait for input that it doesn't read.
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
  return (await running).stdout;
}

export async function kubectlJson<T>(args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectl([...args, '-o', 'json', '--show-managed-fields'])) as T;
}

/** State of an object that no operator has looked at yet; these suites have none. */
export const notLookedAt = { ready: false, reason: 'Reconciling', message: expect.any(String) };

export const canary = (): string => `canary-${randomBytes(12).toString('hex')}`;

/** Returns the issues of a 422, as `place type` each. */
export const brief = ({ body }: RestAnswer): string[] =>
  body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => `${loc.join('.')} ${type}`);

/** Starts the role that makes the deliveries of the facade's events. */
export async function startDispatcher({ database }: Pick<Facade, 'database'>): Promise<RunningRole> {
  return startRole(
    'dispatcher',
    runDispatcher,
    {
      DATABASE_URL: database.url,
      KUBECONFIG: (await controlPlane()).kubeconfigs.dispatcher,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      PARLEY_DISPATCHER_PORT: '0',
    },
    createLogger({ role: 'dispatcher', level: 'error' }),
  );
}
