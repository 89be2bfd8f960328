/** Reports to the api, by way of Postgres, how many calls this voice server can take now. */
import { randomUUID } from 'node:crypto';

import type { Clock } from '../platform/clock.ts';
import { every } from '../platform/every.ts';
import type { Logger } from '../platform/logging.ts';
import type { Store } from '../store/index.ts';
import type { FreePlaces } from './free-places.ts';

export interface PlacesReportOptions {
  readonly servers: Store['voiceServers'];
  readonly agentName: string;
  readonly places: () => FreePlaces;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Pause between two reports, in milliseconds: within it calls that came by other ways are not known to the api. */
const REPORT_MS = 1_000;

export class PlaceReports {
  readonly #options: PlacesReportOptions;
  readonly #id = randomUUID();
  readonly #stop = new AbortController();
  #done: Promise<void> | undefined;

  constructor(options: PlacesReportOptions) {
    this.#options = options;
  }

  /** Begins to report: the media server gives calls to this server from now on. Idempotent; too late once it is closed. */
  begin(): void {
    if (this.#done !== undefined || this.#stop.signal.aborted) return;
    const { servers, agentName, places, clock, logger } = this.#options;
    const failure = 'failed to report how many calls can be taken; the api makes calls without knowing';
    this.#done = every({ intervalMs: REPORT_MS, clock, logger, failure, signal: this.#stop.signal }, () =>
      servers.report(this.#id, { agentName, ...places() }),
    );
  }

  /** Ends the reports: nothing counts on this server from now on. Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort();
    if (this.#done === undefined) return;
    await this.#done;
    const { servers, logger } = this.#options;
    await servers.forget(this.#id).catch((err: unknown) => logger.warn({ err }, 'failed to say that no more calls are taken'));
  }
}
