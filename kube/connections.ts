import { Pool, ProxyAgent, Socks5ProxyAgent, type Dispatcher } from 'undici';

import type { TlsMaterial } from './credentials.ts';

/** Requests in flight to one API server; more wait in line. */
const REQUEST_CONNECTIONS = 16;

/** Connections to one API server, made with one set of TLS material. */
export interface Connections {
  readonly requests: Dispatcher;
  /** Watches hold their connection for minutes: on a pool of their own they can't starve requests. */
  readonly watches: Dispatcher;
}

/**
 * Connects by HTTP/1.1 only: over HTTP/2 one slow watch stalls every request on the same connection.
 * undici's own timeouts are off, because each request brings its deadline and a watch is idle by nature.
 */
export function connect(options: { readonly origin: string; readonly proxyUrl?: string; readonly tls: TlsMaterial }): Connections {
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
