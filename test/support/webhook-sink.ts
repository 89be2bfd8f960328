/** Receives deliveries for tests: it keeps what came, and is scripted for each path. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import { eventually } from './eventually.ts';
import { Servers, whole } from './http-servers.ts';

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes as they came, for checking signatures. */
  readonly body: Buffer;
  /** Value of `webhook-id`. */
  readonly id: string;
  /** Time of the last byte, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A status, `hang` (takes the request and never answers), or a handler that answers by itself. */
export type Behaviour = number | 'hang' | ((received: ReceivedWebhook, response: ServerResponse, request: IncomingMessage) => void);

export interface WebhookSink {
  readonly port: number;
  /** Returns `http://<host>:<port><path>`. */
  url(path: string): string;
  /** Sets how requests to a path are answered from now on; others get 200. */
  behave(path: string, behaviour: Behaviour): void;
  /** Returns the requests of one path, or of all, in the order in which they came. */
  received(path?: string): readonly ReceivedWebhook[];
  /** Returns the different `webhook-id`s that came to a path. */
  ids(path: string): ReadonlySet<string>;
  /** Returns the number of requests that are being answered now. */
  inFlight(path: string): number;
  /** Returns the most requests that ever were at the same time. */
  mostInFlight(path: string): number;
  /** Resolves once that many different events have come to the path. */
  arrived(path: string, count: number): Promise<void>;
  /** Forgets what came. */
  clear(): void;
  /** Breaks every connection and stops: a sender that still waits for an answer waits no longer. */
  close(): Promise<void>;
}

interface PathState {
  behaviour: Behaviour;
  readonly received: ReceivedWebhook[];
  readonly ids: Set<string>;
  inFlight: number;
  most: number;
}

export async function startWebhookSink({
  port = 0,
  host = '127.0.0.1',
}: {
  readonly port?: number;
  /** Address on which it listens, as senders can reach it. */ readonly host?: string | undefined;
} = {}): Promise<WebhookSink> {
  const paths = new Map<string, PathState>();
  const all: ReceivedWebhook[] = [];
  const stateOf = (path: string): PathState => {
    const found = paths.get(path) ?? { behaviour: 200, received: [], ids: new Set<string>(), inFlight: 0, most: 0 };
    paths.set(path, found);
    return found;
  };

  const servers = new Servers();
  const take = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const { url: path = '/', headers } = request;
    const state = stateOf(path);
    state.inFlight += 1;
    state.most = Math.max(state.most, state.inFlight);
    response.once('close', () => (state.inFlight -= 1));
    const received: ReceivedWebhook = { path, headers, body, id: String(headers['webhook-id']), at: Date.now() };
    all.push(received);
    state.received.push(received);
    state.ids.add(received.id);
    const { behaviour } = state;
    if (typeof behaviour === 'function') behaviour(received, response, request);
    else if (behaviour !== 'hang') response.writeHead(behaviour).end();
  };
  const server = await servers.http(whole(take), { address: host, port });

  return {
    port: server.port,
    url: (path) => `http://${host}:${server.port}${path}`,
    behave: (path, behaviour) => void (stateOf(path).behaviour = behaviour),
    received: (path) => [...(path === undefined ? all : stateOf(path).received)],
    ids: (path) => stateOf(path).ids,
    inFlight: (path) => stateOf(path).inFlight,
    mostInFlight: (path) => stateOf(path).most,
    arrived: (path, count) =>
      eventually(() => {
        const { size } = stateOf(path).ids;
        if (size < count) throw new Error(`${size} of ${count} events have come to ${path}`);
      }),
    clear() {
      all.length = 0;
      for (const state of paths.values()) {
        state.received.length = 0;
        state.ids.clear();
      }
    },
    close: () => servers.stop(),
  };
}
