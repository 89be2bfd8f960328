/** Reports readiness, and serves probes and metrics with a small HTTP server. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Registry } from 'prom-client';

/** Collects named reasons for not being ready; without any it is ready. */
export class Readiness {
  readonly #missing = new Map<string, string>();

  /** Records that `part` is not ready, for a reason that a person reads at `/readyz`. */
  notReady(part: string, reason: string): void {
    this.#missing.set(part, reason);
  }

  ready(part: string): void {
    this.#missing.delete(part);
  }

  get isReady(): boolean {
    return this.#missing.size === 0;
  }

  /** Returns `part: reason` lines. */
  get reasons(): readonly string[] {
    return [...this.#missing].map(([part, reason]) => `${part}: ${reason}`);
  }
}

export interface ProbeServerOptions {
  readonly host: string;
  /** Port to listen on; 0 takes a free one. */
  readonly port: number;
  readonly readiness: Readiness;
  readonly registry: Registry;
  /** The bearer token that `/metrics` requires; without one it answers every client. */
  readonly metricsToken?: string | undefined;
}

export interface ProbeServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves `/healthz`, `/readyz` and `/metrics` for roles that have no HTTP server of their own. */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const { readiness, registry } = options;
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/healthz') {
      response.end('ok\n');
    } else if (path === '/readyz') {
      response.statusCode = readiness.isReady ? 200 : 503;
      response.end(readiness.isReady ? 'ok\n' : `${readiness.reasons.join('\n')}\n`);
    } else if (path === '/metrics' && !showsToken(request.headers.authorization, options.metricsToken)) {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('metrics need the token of PARLEY_METRICS_TOKEN\n');
    } else if (path === '/metrics') {
      registry.metrics().then(
        (text) => response.setHeader('content-type', registry.contentType).end(text),
        () => response.writeHead(500).end(),
      );
    } else {
      response.writeHead(404).end('not found: try /healthz, /readyz or /metrics\n');
    }
  });
  await listen(server, options.host, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

/** Tells whether a request may read metrics: it must present the token where one is set. Compares in constant time. */
export function showsToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return true;
  const [shown, wanted] = [authorization ?? '', `Bearer ${token}`].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(shown!, wanted!);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
