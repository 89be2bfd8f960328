/** Gives connections to other HTTP clients, from a pool for each owner. */
import type { Socket } from 'node:net';

import { Agent, type Dispatcher } from 'undici';

/** Keep-alive of a connection in such a pool, in milliseconds, unless the server sends less. */
const KEPT_MS = 30_000;

export class Dispatchers {
  readonly #agents = new Map<string, Agent>();
  readonly #connect: (origin: string) => Promise<Socket>;

  /** @param connect opens a connection that has passed the guard */
  constructor(connect: (origin: string) => Promise<Socket>) {
    this.#connect = connect;
  }

  /** Returns the owner's dispatcher; ask at each request, because an owner without connections is forgotten. */
  of(owner: string): Dispatcher {
    const known = this.#agents.get(owner);
    if (known !== undefined) return known;
    const agent = this.#createAgent();
    const forget = (): void => {
      if (Object.keys(agent.stats).length === 0) this.#agents.delete(owner);
    };
    agent.on('disconnect', forget).on('connectionError', forget);
    this.#agents.set(owner, agent);
    return agent;
  }

  close(): void {
    for (const agent of this.#agents.values()) void agent.destroy().catch(() => undefined);
  }

  #createAgent(): Agent {
    return new Agent({
      // The client's own reading of the address is parsed again: the guard trusts addresses only.
      connect: ({ protocol, host, hostname, port }, connected) => {
        const authority = host ?? `${hostname}${port === '' ? '' : `:${port}`}`;
        this.#connect(`${protocol}//${authority}`).then(
          (socket) => connected(null, socket),
          (error: unknown) => connected(error as Error, null),
        );
      },
      allowH2: false,
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16_384,
    });
  }
}
