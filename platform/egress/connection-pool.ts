/** Unused connections by where they lead, so that the next request to the same server saves the handshakes. */
import type { Address } from './address.ts';
import type { Connection } from './connection.ts';

/** How many unused connections are kept. */
const mostPerOrigin = 16;
const mostInAll = 512;

export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  #idleCount = 0;

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  /** An unused connection to this origin at one of these addresses, and at no other: DNS may have changed since. */
  take(origin: string, addresses: readonly Address[]): Connection | undefined {
    const idle = this.#idle.get(origin);
    if (idle === undefined) return undefined;
    // The latest one first: it is the least likely to be closed by the server just now.
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection === undefined || !addresses.some(({ text }) => text === connection.address)) continue;
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
