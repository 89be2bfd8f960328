/**
 * A double of the Kubernetes API server, in this process: the rules that clients depend on, and faults on purpose.
 * One contract suite runs against it and against kube-apiserver, so that the two can't drift apart.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { KubeConfig } from '@kubernetes/client-node';

import { keyOf as objectKey, type KubeObject, type ResourceDescriptor, type Stored } from '../../../kube/types.ts';
import { builtIns } from './built-in.ts';
import { Faults, type SeenRequest } from './faults.ts';
import { Handler } from './handler.ts';
import { groupResource, keyOf } from './object-parts.ts';
import { RefusalError } from './refusal.ts';
import { served, type DoubleResource, type Served } from './resource.ts';
import type { Json } from './schema.ts';
import { Store } from './store.ts';
import type { Watch } from './watch.ts';
import { Writes } from './writes.ts';

export interface ApiServerDoubleOptions {
  /** Custom resources; Namespace, ConfigMap, Secret, Lease and Event are there. */
  readonly resources?: readonly DoubleResource[];
  /** Namespaces that exist besides `default`. */
  readonly namespaces?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
  /** False plays an API server on an etcd without progress notifications, which can't serve a WatchList. Default: true. */
  readonly watchList?: boolean;
  /** Bearer token that is asked for. Default: none. */
  readonly token?: string;
  /** Milliseconds since the epoch. Default: Date.now. */
  readonly now?: () => number;
}

export interface ApiServerDouble {
  readonly server: string;
  /** Ready to give to createTransport. */
  readonly kubeConfig: KubeConfig;
  readonly faults: Faults;
  /** All requests since the start, or since it was emptied. */
  readonly requests: (SeenRequest & { readonly body?: unknown })[];
  /** From now on this token is asked for. */
  token: string | undefined;
  /** Puts objects there without a request; their namespaces too. */
  seed(descriptor: ResourceDescriptor, objects: readonly KubeObject[]): void;
  objects<T extends KubeObject>(descriptor: ResourceDescriptor): readonly Stored<T>[];
  /** Drops the history of changes: watches and pages from before get 410. */
  compact(): void;
  /** Sends a bookmark to every watch that allows them. */
  bookmark(): void;
  /** Ends every watch in order, as their timeoutSeconds do. */
  endWatches(): void;
  /** Cuts every connection, as a crash does. The double goes on. */
  resetConnections(): void;
  readonly watches: number;
  stop(): Promise<void>;
}

export async function startApiServerDouble(options: ApiServerDoubleOptions = {}): Promise<ApiServerDouble> {
  const resources = [...builtIns, ...(options.resources ?? [])].map(served);
  const store = new Store();
  const now = options.now ?? Date.now;
  const writes = new Writes({ store, now });
  const faults = new Faults();
  const watches = new Set<Watch>();
  const handler = new Handler({ store, writes, resources, faults, watches, watchList: options.watchList ?? true });
  writes.onNamespaceRemoved = (namespace) => {
    for (const resource of resources.filter((each) => each.descriptor.namespaced)) {
      for (const object of store.list(groupResource(resource), namespace))
        store.remove(groupResource(resource), objectKey(object as unknown as KubeObject), object);
    }
  };
  const requests: (SeenRequest & { body?: unknown })[] = [];
  const state: { token: string | undefined } = { token: options.token };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://double');
    const query = Object.fromEntries(url.searchParams);
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query,
      watch: query['watch'] === 'true' || query['watch'] === '1',
    };
    const body = await read(request);
    requests.push({ ...seen, ...(body === '' ? {} : { body: parse(body) }) });
    const fault = faults.takeForRequest(seen);
    if (fault?.kind === 'drop') return void request.socket.destroy();
    if (fault?.kind === 'reset') return void request.socket.resetAndDestroy();
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    if (fault?.kind === 'status') {
      const { code, reason, message, retryAfterSeconds } = fault;
      const details = { ...(reason === undefined ? {} : { reason }), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
      return handler.refuse(response, new RefusalError({ code, message: message ?? `${code}, on purpose`, ...details }));
    }
    if (state.token !== undefined && request.headers.authorization !== `Bearer ${state.token}`) {
      return handler.refuse(response, new RefusalError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }));
    }
    handler.handle(
      {
        seen,
        body,
        accept: request.headers.accept ?? '',
        contentType: request.headers['content-type'] ?? '',
        userAgent: request.headers['user-agent'] ?? '',
      },
      response,
      fault?.kind === 'half-write',
    );
  }

  const seed: ApiServerDouble['seed'] = (descriptor, objects) => {
    const resource = find(resources, descriptor);
    for (const object of objects) {
      const { namespace, name } = object.metadata;
      if (namespace !== undefined) addNamespace(namespace);
      const live = store.get(groupResource(resource), keyOf({ namespace, name }));
      const target = { resource, namespace, name };
      const seeding = { manager: 'seed', force: true, dryRun: false, strict: false };
      if (live === undefined) writes.create(target, object as unknown as Json, seeding);
      else writes.apply(target, object as unknown as Json, seeding);
    }
  };
  const addNamespace = (name: string): void => {
    const resource = find(resources, { group: '', plural: 'namespaces' });
    if (store.get('namespaces', `/${name}`) !== undefined) return;
    writes.create(
      { resource, namespace: undefined, name },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { manager: 'double', force: false, dryRun: false, strict: false },
    );
  };
  for (const name of ['default', ...(options.namespaces ?? [])]) addNamespace(name);

  await listen(server, options.port ?? 0);
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    server: address,
    kubeConfig: configFor(address, options.token),
    faults,
    requests,
    get token() {
      return state.token;
    },
    set token(value) {
      state.token = value;
    },
    seed,
    objects: <T extends KubeObject>(descriptor: ResourceDescriptor) =>
      store.list(groupResource(find(resources, descriptor)), undefined) as unknown as readonly Stored<T>[],
    compact: () => store.compact(),
    bookmark: () => watches.forEach((watch) => watch.bookmark()),
    endWatches: () => watches.forEach((watch) => watch.end()),
    resetConnections: () => handler.resetConnections(),
    get watches() {
      return watches.size;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

function find(resources: readonly Served[], wanted: Pick<ResourceDescriptor, 'group' | 'plural'>): Served {
  const resource = resources.find(({ descriptor }) => descriptor.group === wanted.group && descriptor.plural === wanted.plural);
  if (resource === undefined)
    throw new Error(`the double doesn't serve ${wanted.plural} of group "${wanted.group}"; give it among the resources`);
  return resource;
}

function configFor(server: string, token: string | undefined): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'double', server, skipTLSVerify: true }],
    users: [{ name: 'test', ...(token === undefined ? {} : { token }) }],
    contexts: [{ name: 'double', cluster: 'double', user: 'test' }],
    currentContext: 'double',
  });
  return config;
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}
