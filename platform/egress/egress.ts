/**
 * The only path for requests to addresses that users chose: webhooks, tools, dynamic data, pages of websites.
 *
 * A user must not be able to make Parley call what only Parley can reach: other services of the cluster, the metadata
 * of a cloud, the machine itself. So this module resolves the name and checks every answer, connects to a checked
 * address, checks the remote address again once connected, and treats a redirect like a new address. One deadline
 * covers all of it.
 */
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';

import { Counter, type Registry } from 'prom-client';
import type { Dispatcher } from 'undici';

import { type Clock, systemClock } from '../clock.ts';
import type { Logger } from '../logging.ts';
import { type Address, parseCidr } from './address.ts';
import { createAddressPolicy } from './address-policy.ts';
import { Connection, type ExchangeResponse, type ResponseHead, wentStale } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { ACCEPTED_CODINGS, decodeBody } from './content-coding.ts';
import { Dispatchers } from './dispatchers.ts';
import { EgressError, type EgressPhase } from './egress-error.ts';
import { parseHosts } from './hosts.ts';
import { createNameResolver, type NameResolver } from './name-resolver.ts';
import { openSocket, type SocketOpening } from './open-socket.ts';
import { DEFAULT_PORTS, parseDeniedPorts, parsePorts } from './ports.ts';
import { checkHeaders, redirected, type EgressRequest, type EgressResponse } from './request.ts';
import { readTarget, type Target, type TargetRules, type UrlProblem } from './target.ts';
import { VettedNames } from './vetted-names.ts';

export type { EgressRequest, EgressResponse } from './request.ts';

/** Connect timeout of connections for other HTTP clients, in milliseconds. */
const CONNECT_MS = 10_000;

export interface EgressOptions {
  /** Networks that may be called although they are not public, e.g. `127.0.0.0/8`; default none. */
  readonly allowCidrs?: readonly string[];
  /** Ports that may be called; default `80,443,1024-65535`. */
  readonly allowedPorts?: string;
  /** Ports that stay forbidden in those networks, e.g. `2379,20000-29999`; default none. */
  readonly denyPorts?: string;
  /** DNS servers, `address` or `address:port` each; default those of the operating system. */
  readonly dnsServers?: readonly string[];
  /** Names that resolve to another address than in DNS: `name=address` or `name=address:port` each. */
  readonly hosts?: readonly string[];
  readonly resolver?: NameResolver;
  /** Certificates (PEM) to trust instead of the public ones. */
  readonly ca?: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly registry?: Registry;
}

/** Sends the requests of one owner, whose connections serve no other. */
export interface Egress {
  /** Finds problems of an address without the network, for the moment when a user writes it. Names are resolved at each request only. */
  check(url: string): UrlProblem | undefined;
  /** @throws EgressError, or the signal's own reason */
  request(request: EgressRequest): Promise<EgressResponse>;
  /**
   * Serves HTTP clients that read answers themselves, such as streams: every connection that they open has passed the guard, also after a
   * redirect. They enforce deadlines, redirects and sizes themselves, except for the connect timeout of 10 s.
   */
  readonly dispatcher: Dispatcher;
  /**
   * Opens a connection that has passed the guard, for a client of another protocol, such as WebSockets. `https:` connections have finished
   * their TLS handshake. The client enforces its own deadlines, except for the connect timeout of 10 s.
   * @param origin `http:` or `https:`
   * @throws EgressError
   */
  connect(origin: string): Promise<Socket>;
}

export interface EgressGuard {
  /** @param owner the organisation that chose the addresses; {@link INSTALLATION} for those that the operator of Parley chose */
  for(owner: string): Egress;
  /**
   * Tells whether DNS has answered anything since `since` (monotonic, in milliseconds). After a timeout it decides whether the name was
   * slow or our DNS servers are down. Takes some seconds in the worst case.
   */
  dnsAnswered(since: number): Promise<boolean>;
  /** Ends every connection; requests under way fail with `closed`. */
  close(): void;
}

/** Owns the connections to addresses that no organisation chose. */
export const INSTALLATION = '';

/** @throws RangeError for invalid networks, ports or names */
export function createEgress(options: EgressOptions = {}): EgressGuard {
  return new Guard(options);
}

class Guard implements EgressGuard {
  readonly #clock: Clock;
  readonly #logger: Logger | undefined;
  readonly #rules: TargetRules;
  readonly #resolver: NameResolver;
  readonly #names: VettedNames;
  readonly #pool: ConnectionPool;
  readonly #dispatchers = new Dispatchers((origin) => this.#connect(origin));
  readonly #secureContext: SecureContext;
  readonly #running = new Set<EgressRun>();
  readonly #outcomes: Counter<'outcome'> | undefined;
  #closed = false;

  constructor(options: EgressOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger;
    this.#pool = new ConnectionPool(this.#clock);
    const policy = createAddressPolicy({
      allow: (options.allowCidrs ?? []).map(parseCidr),
      denyPorts: parseDeniedPorts(options.denyPorts ?? ''),
    });
    this.#rules = { policy, ports: parsePorts(options.allowedPorts ?? DEFAULT_PORTS), hosts: parseHosts(options.hosts ?? []) };
    this.#resolver =
      options.resolver ?? createNameResolver({ clock: this.#clock, ...(options.dnsServers && { servers: options.dnsServers }) });
    this.#names = new VettedNames({ resolver: this.#resolver, policy, clock: this.#clock });
    this.#secureContext = createSecureContext(options.ca === undefined ? {} : { ca: options.ca });
    this.#outcomes =
      options.registry &&
      new Counter({
        name: 'parley_egress_requests_total',
        help: 'Requests to addresses that users chose, by outcome: answered, or the kind of failure.',
        labelNames: ['outcome'],
        registers: [options.registry],
      });
  }

  for(owner: string): Egress {
    const dispatchers = this.#dispatchers;
    return {
      check: (url) => {
        const target = readTarget(url, this.#rules);
        return 'kind' in target ? target : undefined;
      },
      request: (request) => this.#request(owner, request),
      connect: (origin) => this.#connect(origin),
      get dispatcher() {
        return dispatchers.of(owner);
      },
    };
  }

  async dnsAnswered(since: number): Promise<boolean> {
    return (await this.#resolver.answeredSince?.(since)) ?? true;
  }

  close(): void {
    this.#closed = true;
    for (const run of this.#running) run.close();
    this.#pool.close();
    this.#dispatchers.close();
  }

  async #request(owner: string, request: EgressRequest): Promise<EgressResponse> {
    request.signal?.throwIfAborted();
    const run = new EgressRun(owner);
    this.#running.add(run);
    if (this.#closed) run.close();
    const timer = this.#clock.after(request.timeoutMs, () => run.timeOut(request.timeoutMs));
    const onAbort = (): void => run.stop(request.signal?.reason);
    request.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const response = await this.#answerTo(run, request);
      this.#outcomes?.inc({ outcome: 'answered' });
      return response;
    } catch (error) {
      this.#outcomes?.inc({ outcome: error instanceof EgressError ? error.kind : 'aborted' });
      this.#logForbidden(error);
      throw error;
    } finally {
      run.done = true;
      timer.cancel();
      request.signal?.removeEventListener('abort', onAbort);
      this.#running.delete(run);
    }
  }

  async #answerTo(run: EgressRun, request: EgressRequest): Promise<EgressResponse> {
    try {
      return await Promise.race([run.failed, this.#follow(run, request)]);
    } catch (error) {
      if (run.answer === undefined) throw error;
      return run.answer;
    }
  }

  /** Sends the request, and again to each address that it is redirected to. */
  async #follow(run: EgressRun, first: EgressRequest): Promise<EgressResponse> {
    let request = first.decompress === true ? withCodings(first) : first;
    let target = this.#readTarget(request.url);
    run.target = target;
    checkHeaders(request.headers ?? {}, target.host);
    for (let hops = 0; ; hops += 1) {
      const response = await this.#exchange(run, target, request);
      const next = (first.maxRedirects ?? 0) === 0 ? undefined : redirected(request, target, response);
      if (next === undefined) {
        const coding = request.decompress === true ? response.headers['content-encoding'] : undefined;
        const coded = coding === undefined ? response.body : await decodeBody(response.body, String(coding), limits(request, target));
        return { ...response, body: coded, url: target.url.href };
      }
      if (hops >= (first.maxRedirects ?? 0)) {
        throw new EgressError({
          kind: 'redirect',
          phase: 'head',
          host: target.host,
          message: `${target.host} redirects again after ${hops} redirects: use the final address`,
        });
      }
      request = next;
      target = this.#readTarget(next.url);
    }
  }

  /** Makes one request and returns its answer, on a kept connection where there is one and the request may be sent twice. */
  async #exchange(run: EgressRun, target: Target, request: EgressRequest): Promise<ExchangeResponse & { address: string }> {
    run.target = target;
    run.answer = undefined;
    run.phase = 'dns';
    const addresses = await this.#resolve(target);
    run.throwIfStopped();
    const method = request.method ?? 'GET';
    const wire = {
      method,
      path: `${target.url.pathname}${target.url.search}`,
      headers: request.headers ?? {},
      ...(request.body === undefined ? {} : { body: request.body }),
      maxBodyBytes: request.maxBodyBytes,
      overflow: request.overflow ?? 'fail',
    } as const;
    const onHead = (head: ResponseHead, { address }: Connection): void => {
      run.phase = 'body';
      if (request.statusDecides === true) run.answer = { ...head, body: Buffer.alloc(0), truncated: true, url: target.url.href, address };
    };
    const repeatable = request.repeatable ?? (method === 'GET' || method === 'HEAD');
    for (let stale = false; ; stale = true) {
      // After one stale connection open a new one: at most two requests are sent in all.
      const kept = stale || !repeatable ? undefined : this.#pool.take(run.owner, target.origin, addresses);
      const connection = kept ?? (await this.#open(run, target, addresses));
      run.cleanUp = () => connection.destroy();
      run.throwIfStopped();
      run.phase = 'head';
      try {
        const response = await connection.exchange({ ...wire, onHead: (head) => onHead(head, connection) });
        this.#pool.give(connection);
        run.cleanUp = undefined;
        return { ...response, address: connection.address };
      } catch (error) {
        if (run.stopped || !repeatable || !wentStale(error, connection)) throw error;
        request.onRepeat?.();
      }
    }
  }

  async #open(run: EgressRun, target: Target, addresses: readonly Address[]): Promise<Connection> {
    run.phase = 'connect';
    const opening = this.#openSocket(target, addresses, () => (run.phase = 'tls'));
    run.cleanUp = () => opening.cancel();
    const { socket, address } = await opening.opened;
    run.throwIfStopped();
    const { origin, host } = target;
    const connection = new Connection({ owner: run.owner, origin, host, socket, address, onClose: (one) => this.#pool.remove(one) });
    this.#pool.add(connection);
    return connection;
  }

  /** Opens a connection for another HTTP client. */
  async #connect(origin: string): Promise<Socket> {
    const target = this.#readTarget(origin);
    if (this.#closed) throw closedError('connect', target.host);
    let opening: SocketOpening | undefined;
    let late = false;
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const timer = this.#clock.after(CONNECT_MS, () => {
      late = true;
      opening?.cancel();
      const message = `${target.host} took longer than ${CONNECT_MS} ms to accept the connection: is a server listening there?`;
      reject(new EgressError({ kind: 'timeout', phase: 'connect', host: target.host, message }));
    });
    const connect = async (): Promise<Socket> => {
      opening = this.#openSocket(target, await this.#resolve(target), () => undefined);
      if (late) opening.cancel();
      return (await opening.opened).socket;
    };
    try {
      const connecting = connect();
      // No caller waits for it any more once the time is up.
      connecting.catch(() => undefined);
      return await Promise.race([connecting, timedOut]);
    } catch (error) {
      this.#logForbidden(error);
      throw error;
    } finally {
      timer.cancel();
      timedOut.catch(() => undefined);
    }
  }

  /** @throws EgressError for an address that can be refused without the network */
  #readTarget(url: string): Target {
    const target = readTarget(url, this.#rules);
    if ('kind' in target) throw new EgressError({ ...target, phase: 'check', host: URL.parse(url)?.host ?? '' });
    return target;
  }

  async #resolve(target: Target): Promise<readonly Address[]> {
    return this.#names.known(target) ?? (await this.#names.ask(target));
  }

  #openSocket(target: Target, addresses: readonly Address[], onTls: () => void): SocketOpening {
    const { policy } = this.#rules;
    return openSocket({ target, addresses, policy, secureContext: this.#secureContext, clock: this.#clock, onTls });
  }

  #logForbidden(error: unknown): void {
    if (!(error instanceof EgressError) || error.kind !== 'forbidden_address') return;
    this.#logger?.info({ egress: { host: error.host, phase: error.phase } }, error.message);
  }
}

const limits = (request: EgressRequest, target: Target): { maxBytes: number; host: string } => ({
  maxBytes: request.maxBodyBytes,
  host: target.host,
});

const withCodings = (request: EgressRequest): EgressRequest => ({
  ...request,
  headers: { ...request.headers, 'accept-encoding': ACCEPTED_CODINGS },
});

const closedError = (phase: EgressPhase, host: string): EgressError =>
  new EgressError({ kind: 'closed', phase, host, message: 'Parley is stopping: the request was aborted' });

/** Holds the state of one request: its phase, and how to stop it at any point. */
class EgressRun {
  phase: EgressPhase = 'check';
  target: Target | undefined;
  /** Aborts the step under way. */
  cleanUp: (() => void) | undefined;
  stopped = false;
  /** True once the request has its answer, or has failed. */
  done = false;
  /** Answer of a request whose status decides, however the request ends. */
  answer: EgressResponse | undefined;
  readonly owner: string;
  readonly failed: Promise<never>;
  readonly #fail: (reason: unknown) => void;

  constructor(owner: string) {
    this.owner = owner;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#fail = reject;
    // No caller waits for it any more once the request has its answer.
    promise.catch(() => undefined);
  }

  stop(reason: unknown): void {
    this.stopped = true;
    this.#fail(reason);
    this.cleanUp?.();
  }

  timeOut(timeoutMs: number): void {
    if (this.done) return;
    const host = this.target?.host ?? '';
    const waiting = waitingFor[this.phase];
    const message = `${host} took longer than ${timeoutMs} ms, ${waiting}: make it answer sooner, or allow more time`;
    this.stop(new EgressError({ kind: 'timeout', phase: this.phase, host, message }));
  }

  close(): void {
    this.stop(closedError(this.phase, this.target?.host ?? ''));
  }

  /** Throws for a request that was stopped during a step that cannot be aborted. */
  throwIfStopped(): void {
    if (!this.stopped) return;
    this.cleanUp?.();
    throw new Error('stopped');
  }
}

const waitingFor: Readonly<Record<EgressPhase, string>> = {
  check: 'before anything was sent',
  dns: 'waiting for DNS',
  connect: 'waiting for the connection',
  tls: 'waiting for the TLS handshake',
  head: 'waiting for the answer',
  body: 'reading the answer',
};
