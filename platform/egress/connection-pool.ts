/**
 * Keeps idle connections, so that the next request to the same server saves the handshakes. Those of one owner serve no other: a server
 * may close them, or write into them, at any moment.
 */
import type { Clock, Timer } from '../clock.ts';
import type { Address } from './address.ts';
import type { Connection } from './connection.ts';

/** An owner keeps as many as it makes requests at once, or each burst opens most of them again. */
const MOST_PER_OWNER = 256;
const MOST_IN_ALL = 1024;
/** Longest time that a connection stays idle, in milliseconds: shorter than servers keep theirs. */
const IDLE_MS = 4000;

export class ConnectionPool {
  /** Idle connections by owner, the longest idle first. */
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  /** Ends of the idle connections. */
  readonly #ends = new Map<Connection, Timer>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  /** Takes an idle connection of this owner to this origin, at one of these addresses only: DNS may have changed since. */
  take(owner: string, origin: string, addresses: readonly Address[]): Connection | undefined {
    const idle = this.#idle.get(owner) ?? [];
    // The latest one is tried first: the server is least likely to be closing it.
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection?.origin !== origin || !addresses.some(({ text }) => text === connection.address)) continue;
      this.#unlist(connection);
      if (connection.open) return connection;
    }
    return undefined;
  }

  give(connection: Connection): void {
    const idle = this.#idle.get(connection.owner) ?? [];
    if (!connection.open || idle.length >= MOST_PER_OWNER) {
      connection.destroy();
      return;
    }
    if (this.#ends.size >= MOST_IN_ALL) this.#endOneOfTheLargest();
    idle.push(connection);
    this.#idle.set(connection.owner, idle);
    this.#ends.set(
      connection,
      this.#clock.after(IDLE_MS, () => connection.destroy()),
    );
  }

  remove(connection: Connection): void {
    this.#all.delete(connection);
    this.#unlist(connection);
  }

  /** Ends every connection, also those in use. */
  close(): void {
    for (const connection of this.#all) connection.destroy();
  }

  #endOneOfTheLargest(): void {
    const [oldest] = [...this.#idle.values()].reduce((most, idle) => (idle.length > most.length ? idle : most));
    if (oldest === undefined) return;
    this.#unlist(oldest);
    oldest.destroy();
  }

  #unlist(connection: Connection): void {
    const idle = this.#idle.get(connection.owner) ?? [];
    const index = idle.indexOf(connection);
    if (index < 0) return;
    idle.splice(index, 1);
    this.#ends.get(connection)?.cancel();
    this.#ends.delete(connection);
    if (idle.length === 0) this.#idle.delete(connection.owner);
  }
}
