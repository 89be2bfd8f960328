/** Listens on a channel of Postgres, on a connection of its own that is reopened whenever it is lost. */
import type { Client } from 'pg';

import { backoffDelay } from '../platform/backoff.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import { outsideOfTraces } from '../platform/telemetry/tracing.ts';
import type { Database } from './database.ts';

export interface ChannelListenerOptions {
  readonly database: Database;
  /** An identifier that needs no quotes. */
  readonly channel: string;
  /** Words for the log: the name of the notifications, and what happens while they are missed. */
  readonly words: { readonly what: string; readonly meanwhile: string };
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly onMessage: (payload: string) => void;
  /** Called when it listens, for the first time or again: earlier notifications are not repeated. */
  readonly onListening: () => void;
  /** Called when it listens no more, stopped or not. */
  readonly onLost?: (() => void) | undefined;
  /** Statements for each new session. */
  readonly session?: readonly string[] | undefined;
}

export interface Listening {
  stop(): Promise<void>;
}

/** Longest wait before it connects again, in milliseconds. */
export const LONGEST_RETRY_MS = 5_000;
const RETRY = { baseMs: 200, maxMs: LONGEST_RETRY_MS, jitter: 0 } as const;
/** Milliseconds between two probes: a connection that a firewall forgot looks alive until it is used. */
const PROBE_MS = 30_000;

export class ChannelListener implements Listening {
  readonly #options: ChannelListenerOptions;
  #client: Client | undefined;
  #timer: Timer | undefined;
  #failures = 0;
  #stopped = false;

  constructor(options: ChannelListenerOptions) {
    this.#options = options;
  }

  start(): void {
    outsideOfTraces(() => void this.#connect());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const client = this.#client;
    this.#client = undefined;
    this.#options.onLost?.();
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { database, channel, words, session = [], logger, onMessage, onListening } = this.#options;
    const client = database.dedicatedClient();
    this.#client = client;
    client.on('error', (err) => this.#lost(client, err));
    client.on('end', () => this.#lost(client, undefined));
    client.on('notification', ({ payload = '' }) => onMessage(payload));
    try {
      await client.connect();
      for (const statement of [...session, `LISTEN ${channel}`]) await client.query(statement);
      this.#failures = 0;
      logger?.debug(`listening for ${words.what}`);
      onListening();
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

  /** Called once or more for the same client: by its events and by calls that failed on it. */
  #lost(client: Client, err: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#timer?.cancel();
    this.#options.onLost?.();
    client.end().catch(() => undefined);
    if (this.#stopped) return;
    this.#failures += 1;
    const waitMs = backoffDelay(this.#failures, RETRY);
    const { logger, words } = this.#options;
    logger?.warn({ err, waitMs }, `not listening for ${words.what}; ${words.meanwhile}`);
    this.#timer = this.#options.clock.after(waitMs, () => void this.#connect());
  }
}
