/** Listens for revoked API keys on a connection of its own, for as long as the process lives. */
import type { Client } from 'pg';

import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import { REVOKED_CHANNEL } from './api-keys.ts';
import type { Database } from './database.ts';

export interface RevocationListenerOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** A key was revoked, or some may have been while nobody listened. */
  readonly onRevoked: () => void;
}

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;
/** A connection that a firewall forgot looks alive: asked this often, it shows. */
const PROBE_MS = 30_000;

export class RevocationListener {
  readonly #options: RevocationListenerOptions;
  #client: Client | undefined;
  #timer: Timer | undefined;
  #failures = 0;
  #stopped = false;

  constructor(options: RevocationListenerOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { database, logger, onRevoked } = this.#options;
    const client = database.dedicatedClient();
    this.#client = client;
    client.on('error', (err) => this.#lost(client, err));
    client.on('end', () => this.#lost(client, undefined));
    client.on('notification', () => onRevoked());
    try {
      await client.connect();
      await client.query(`LISTEN ${REVOKED_CHANNEL}`);
      this.#failures = 0;
      logger?.debug('listening for revoked API keys');
      // What was revoked while nobody listened is not told again.
      onRevoked();
      this.#probeLater(client);
    } catch (err) {
      this.#lost(client, err);
    }
  }

  #probeLater(client: Client): void {
    if (this.#client !== client) return;
    this.#timer = this.#options.clock.after(PROBE_MS, () => {
      client.query('SELECT 1').then(
        () => this.#probeLater(client),
        (err: unknown) => this.#lost(client, err),
      );
    });
  }

  /** Called once or more for the same client: by its events and by what failed on it. */
  #lost(client: Client, err: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#timer?.cancel();
    client.end().catch(() => undefined);
    if (this.#stopped) return;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    this.#options.logger?.warn({ err, waitMs }, 'not listening for revoked API keys; keys are asked for again every few seconds meanwhile');
    this.#timer = this.#options.clock.after(waitMs, () => void this.#connect());
  }
}
