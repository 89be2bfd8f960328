/** Requests to one API server, over connections that are kept. Knows HTTP, credentials and retries, but no objects. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { Pool, ProxyAgent, Socks5ProxyAgent, type Dispatcher } from 'undici';

import { awakeClock, withTimeout, type Clock } from '../platform/clock.ts';
import { errorCodeOf, toError } from '../platform/caught.ts';
import type { Logger } from '../platform/logging.ts';
import { retry } from '../platform/retry.ts';
import { KubeCredentials, type Identity, type TlsMaterial } from './credentials.ts';
import { Deadline } from './deadline.ts';
import { KubeError } from './error.ts';
import type { KubeConfig } from './kube-config.ts';
import { MAX_ATTEMPTS, retryDelay } from './retry.ts';
import { errorFromAnswer } from './status.ts';
import { jsonAsYaml } from './yaml.ts';

export { loadKubeConfig, type KubeConfig } from './kube-config.ts';

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path on the API server, each segment already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** Default: `application/json`. */
  readonly accept?: string;
  /** Additional headers; those that authenticate override them. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Longest time for the request with all its retries, in milliseconds; for a stream: until its headers. Default: 30,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Whether sending it twice is harmless, so that it may be retried after a 503 or a lost connection. Default: true for GET only. */
  readonly idempotent?: boolean;
}

export interface KubeStream {
  readonly status: number;
  /** Throws KubeError when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection; `body` ends or throws. Idempotent. */
  destroy(): void;
}

/** Everything throws {@link KubeError} and nothing else. */
export interface Transport {
  /** Sends a request and resolves with the answer's JSON (undefined for an empty one). */
  request<T>(request: KubeRequest): Promise<T>;
  /** Sends a request whose answer is read as it comes, on a connection of its own. */
  stream(request: KubeRequest): Promise<KubeStream>;
  readonly server: string;
  /** Lets requests in flight finish for a moment, then cuts what is left, watches at once. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly kubeConfig: KubeConfig;
  readonly registry?: Registry;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly logger?: Logger;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const CLOSE_GRACE_MS = 2_000;

/** @throws KubeError with reason `BadKubeConfig` when the configuration names no cluster. */
export function createTransport(options: TransportOptions): Transport {
  return new HttpTransport(options);
}

class HttpTransport implements Transport {
  readonly server: string;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #host: string;
  readonly #proxyUrl: string | undefined;
  readonly #credentials: KubeCredentials;
  readonly #metrics: TransportMetrics;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #logger: Logger | undefined;
  #connections: (Connections & { readonly tlsKey: string }) | undefined;
  #closed = false;

  constructor(options: TransportOptions) {
    const cluster = options.kubeConfig.getCurrentCluster();
    if (cluster === null) throw new KubeError({ code: 0, reason: 'BadKubeConfig', message: 'the kubeconfig names no current cluster' });
    const url = new URL(cluster.server);
    this.server = cluster.server.replace(/\/+$/, '');
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#host = url.host;
    this.#proxyUrl = cluster.proxyUrl;
    // A request that waits to be sent again keeps the process alive.
    this.#clock = options.clock ?? awakeClock;
    this.#random = options.random ?? Math.random;
    this.#logger = options.logger;
    this.#metrics = transportMetrics(options.registry);
    this.#credentials = new KubeCredentials({ kubeConfig: options.kubeConfig, clock: this.#clock });
  }

  async request<T>(request: KubeRequest): Promise<T> {
    const deadline = new Deadline({
      clock: this.#clock,
      timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal: request.signal,
      what: describe(request),
    });
    try {
      return await this.#retrying(request, deadline, 'requests', async (answer) => {
        const text = await answer.body.text();
        return (text === '' ? undefined : JSON.parse(text)) as T;
      });
    } catch (error) {
      throw this.#explain(error, request, deadline);
    } finally {
      deadline.clear();
    }
  }

  async stream(request: KubeRequest): Promise<KubeStream> {
    const deadline = new Deadline({
      clock: this.#clock,
      timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal: request.signal,
      what: describe(request),
    });
    try {
      const answer = await this.#retrying(request, deadline, 'watches', (opened) => Promise.resolve(opened));
      deadline.disarm(); // the rest may take as long as it likes; the caller's signal still ends it
      return {
        status: answer.statusCode,
        body: this.#chunks(answer.body, request, deadline),
        destroy: () => deadline.abort(),
      };
    } catch (error) {
      deadline.clear();
      throw this.#explain(error, request, deadline);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connections = this.#connections;
    this.#connections = undefined;
    if (connections !== undefined) await retire(connections, this.#clock);
  }

  async *#chunks(body: AsyncIterable<Uint8Array>, request: KubeRequest, deadline: Deadline): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw this.#explain(error, request, deadline);
    } finally {
      deadline.clear();
    }
  }

  /** Resolves with what `read` makes of an answer of 2xx, or throws the last error. An answer that breaks off counts as none. */
  async #retrying<R>(
    request: KubeRequest,
    deadline: Deadline,
    pool: keyof Connections,
    read: (answer: Dispatcher.ResponseData) => Promise<R>,
  ): Promise<R> {
    const body =
      request.body === undefined ? undefined : (request.contentType?.endsWith('+yaml') ? jsonAsYaml : JSON.stringify)(request.body);
    const idempotent = request.idempotent ?? request.method === 'GET';
    let reauthenticated = false;
    let identity = this.#credentials.current();
    const delayMs = (thrown: unknown, attempt: number): number | undefined => {
      const error = this.#explain(thrown, request, deadline);
      if (error.code === 401 && !reauthenticated) {
        reauthenticated = true;
        this.#credentials.refresh(identity);
        return 0;
      }
      const delay = retryDelay({ error, idempotent, attempt, random: this.#random });
      if (delay === undefined || delay >= deadline.leftMs) return undefined;
      this.#logger?.debug(
        { request: describe(request), code: error.code, delayMs: Math.round(delay), attempt, maxAttempts: MAX_ATTEMPTS },
        'request is sent again',
      );
      return delay;
    };
    const attempt = async (): Promise<R> => {
      identity = this.#credentials.current();
      return read(await this.#attempt(request, body, await identity, deadline, pool));
    };
    return retry(attempt, { delayMs, clock: this.#clock, signal: deadline.signal });
  }

  async #attempt(
    request: KubeRequest,
    body: string | undefined,
    identity: Identity,
    deadline: Deadline,
    pool: keyof Connections,
  ): Promise<Dispatcher.ResponseData> {
    const started = this.#clock.monotonic();
    let code = '<error>';
    try {
      const answer = await this.#dispatcher(identity)[pool].request({
        origin: this.#origin,
        path: this.#prefix + request.path + queryOf(request.query),
        method: request.method,
        headers: {
          ...request.headers,
          ...identity.headers,
          accept: request.accept ?? 'application/json',
          'user-agent': 'parley',
          ...(body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        },
        signal: deadline.signal,
        ...(body === undefined ? {} : { body }),
      });
      code = String(answer.statusCode);
      if (answer.statusCode >= 200 && answer.statusCode < 300) return answer;
      const retryAfter = answer.headers['retry-after'];
      throw errorFromAnswer({
        code: answer.statusCode,
        text: await answer.body.text(),
        retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
        request: describe(request),
      });
    } finally {
      this.#metrics.observe({ method: request.method, code, host: this.#host, seconds: (this.#clock.monotonic() - started) / 1000 });
    }
  }

  /** Returns connections made with the identity's TLS material; those made with an older one are closed. */
  #dispatcher(identity: Identity): Connections {
    if (this.#closed)
      throw new KubeError({ code: 0, reason: 'Aborted', message: `the connection to ${this.server} was closed by this process` });
    if (this.#connections?.tlsKey === identity.tlsKey) return this.#connections;
    const old = this.#connections;
    this.#connections = {
      ...connect({ origin: this.#origin, tls: identity.tls, ...(this.#proxyUrl === undefined ? {} : { proxyUrl: this.#proxyUrl }) }),
      tlsKey: identity.tlsKey,
    };
    // Watches on the old connections go on until the server ends them.
    if (old !== undefined) for (const each of [old.requests, old.watches]) each.close().catch(() => undefined);
    return this.#connections;
  }

  #explain(error: unknown, request: KubeRequest, deadline: Deadline): KubeError {
    if (deadline.error !== undefined) return deadline.error;
    if (error instanceof KubeError) return error;
    const cause = toError(error);
    if (cause instanceof SyntaxError) {
      return new KubeError({
        code: 0,
        reason: 'Unreachable',
        message: `${describe(request)}: what answers at ${this.server} is not an API server: ${cause.message}`,
        cause,
      });
    }
    if (this.#closed)
      return new KubeError({
        code: 0,
        reason: 'Aborted',
        message: `${describe(request)} was cut: this process closed its connection`,
        cause,
      });
    return new KubeError({
      code: 0,
      reason: 'Unreachable',
      message: `${describe(request)}: the API server ${this.server} can't be reached: ${cause.message || (errorCodeOf(cause) ?? cause.name)}`,
      cause,
    });
  }
}

/** Closes both pools: requests get a moment, watches none. */
async function retire(connections: Connections, clock: Clock): Promise<void> {
  await connections.watches.destroy();
  await withTimeout(clock, CLOSE_GRACE_MS, connections.requests.close());
  await connections.requests.destroy();
}

function describe(request: KubeRequest): string {
  return `${request.method} ${request.path}`;
}

function queryOf(query: KubeRequest['query']): string {
  if (query === undefined) return '';
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}

/** Requests in flight to one API server; more wait in line. */
const REQUEST_CONNECTIONS = 16;

/** Connections to one API server, made with one set of TLS material. */
interface Connections {
  readonly requests: Dispatcher;
  /** Watches hold their connection for minutes: on a pool of their own they can't starve requests. */
  readonly watches: Dispatcher;
}

/**
 * Connects by HTTP/1.1 only: over HTTP/2 one slow watch stalls every request on the same connection.
 * undici's own timeouts are off, because each request brings its deadline and a watch is idle by nature.
 */
function connect(options: { readonly origin: string; readonly proxyUrl?: string; readonly tls: TlsMaterial }): Connections {
  const pool = (connections: number | null): Dispatcher => {
    const common = {
      connections,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 60_000,
    };
    // 30 s as in client-go: 60 s, undici's default, is what cloud load balancers cut idle connections at.
    const socket = { keepAlive: true, keepAliveInitialDelay: 30_000, timeout: 10_000 };
    if (options.proxyUrl === undefined) return new Pool(options.origin, { ...common, connect: { ...options.tls, ...socket } });
    if (options.proxyUrl.startsWith('socks')) return new Socks5ProxyAgent(options.proxyUrl, { ...common, requestTls: options.tls });
    return new ProxyAgent({ ...common, uri: options.proxyUrl, requestTls: { ...options.tls }, connect: socket });
  };
  return { requests: pool(REQUEST_CONNECTIONS), watches: pool(null) };
}

/** client-go's metrics of the same names, so that existing dashboards work. */
interface TransportMetrics {
  /** `code` is the HTTP status, or `<error>` when no answer came. */
  observe(request: { readonly method: string; readonly code: string; readonly host: string; readonly seconds: number }): void;
}

/** Several transports of one process share the metrics of one registry. */
function transportMetrics(registry: Registry | undefined): TransportMetrics {
  if (registry === undefined) return { observe: () => undefined };
  const requests =
    (registry.getSingleMetric('rest_client_requests_total') as Counter<'code' | 'method' | 'host'> | undefined) ??
    new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server, by status code, method and host.',
      labelNames: ['code', 'method', 'host'],
      registers: [registry],
    });
  const durations =
    (registry.getSingleMetric('rest_client_request_duration_seconds') as Histogram<'verb' | 'host'> | undefined) ??
    new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time until the answer of the API server, in seconds, by verb and host.',
      labelNames: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
      registers: [registry],
    });
  return {
    observe({ method, code, host, seconds }) {
      requests.inc({ code, method, host });
      durations.observe({ verb: method, host }, seconds);
    },
  };
}
