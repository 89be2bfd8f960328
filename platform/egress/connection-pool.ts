/** Unused connections by where they lead, so that the next request to the same server saves the handshakes. */
import type { Clock } from '../clock.ts';
import type { Address } from './address.ts';
import type { Connection } from './connection.ts';

/** How many unused connections are kept: to one server as many as there may be requests at once, or a burst opens most of them again each time. */
const mostPerOrigin = 256;
const mostInAll = 1024;

/**
 * How long a connection has been unused at most when it is taken for what must not be repeated, in milliseconds: servers close unused
 * connections after two seconds at the earliest, hardly any before five, and what is sent at that very moment is lost.
 */
const freshMs = 1500;

export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  readonly #clock: Clock;
  #idleCount = 0;

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  /**
   * An unused connection to this origin at one of these addresses, and at no other: DNS may have changed since.
   *
   * @param options.fresh only one that has been used a moment ago
   */
  take(origin: string, addresses: readonly Address[], options: { readonly fresh: boolean }): Connection | undefined {
    const idle = this.#idle.get(origin);
    if (idle === undefined) return undefined;
    // The latest one first: it is the least likely to be closed by the server just now.
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection === undefined || !addresses.some(({ text }) => text === connection.address)) continue;
      // Those before it have waited longer.
      if (options.fresh && this.#clock.monotonic() - connection.idleSince > freshMs) return undefined;
      this.#unlist(origin, idle, index);
      if (connection.open) return connection;
    }
    return undefined;
  }

  give(origin: string, connection: Connection): void {
    const idle = this.#idle.get(origin) ?? [];
    if (!connection.open || idle.length >= mostPerOrigin || this.#idleCount >= mostInAll) {
      connection.destroy();
      return;
    }
    connection.idleSince = this.#clock.monotonic();
    idle.push(connection);
    this.#idle.set(origin, idle);
    this.#idleCount += 1;
  }

  remove(origin: string, connection: Connection): void {
    this.#all.delete(connection);
    const idle = this.#idle.get(origin);
    const index = idle?.indexOf(connection) ?? -1;
    if (idle !== undefined && index >= 0) this.#unlist(origin, idle, index);
  }

  /** Ends every connection, also those in use. */
  close(): void {
    for (const connection of this.#all) connection.destroy();
  }

  #unlist(origin: string, idle: Connection[], index: number): void {
    idle.splice(index, 1);
    this.#idleCount -= 1;
    if (idle.length === 0) this.#idle.delete(origin);
  }
}
