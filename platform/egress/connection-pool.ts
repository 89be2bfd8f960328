/** Idle connections by origin, so that the next request to the same server saves the handshakes. */
import type { Clock } from '../clock.ts';
import type { Address } from './address.ts';
import type { Connection } from './connection.ts';

/** Limits of idle connections: per server as many as concurrent requests, or each burst opens most of them again. */
const MOST_PER_ORIGIN = 256;
const MOST_IN_ALL = 1024;

/**
 * Longest idle time of a connection that is reused for a request that must not be repeated, in milliseconds: servers close idle
 * connections after two seconds at the earliest, few before five, and a request sent at that moment is lost.
 */
const FRESH_MS = 1500;

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
   * An idle connection to this origin at one of these addresses only: DNS may have changed since.
   *
   * @param options.fresh only a recently used one
   */
  take(origin: string, addresses: readonly Address[], options: { readonly fresh: boolean }): Connection | undefined {
    const idle = this.#idle.get(origin);
    if (idle === undefined) return undefined;
    // The latest one first: the server is least likely to be closing it.
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection === undefined || !addresses.some(({ text }) => text === connection.address)) continue;
      // Earlier ones have been idle for longer.
      if (options.fresh && this.#clock.monotonic() - connection.idleSince > FRESH_MS) return undefined;
      this.#unlist(origin, idle, index);
      if (connection.open) return connection;
    }
    return undefined;
  }

  give(origin: string, connection: Connection): void {
    const idle = this.#idle.get(origin) ?? [];
    if (!connection.open || idle.length >= MOST_PER_ORIGIN || this.#idleCount >= MOST_IN_ALL) {
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
