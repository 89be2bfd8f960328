/**
 * Sends measurements of model requests from a job process to its role, which serves the metrics; gathers them for a moment, for a turn has
 * several.
 */
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';

/** Time for which measurements are gathered, in milliseconds. */
const GATHER_MS = 1_000;
/** Number of measurements that are sent at once. */
const MOST_TOGETHER = 100;

export interface MeasurementReportsOptions {
  /** Sends measurements. Never fails: a role that is gone counts nothing. */
  readonly send: (measurements: readonly Measurement[]) => Promise<void>;
  readonly clock: Pick<Clock, 'after'>;
}

export class MeasurementReports {
  readonly #options: MeasurementReportsOptions;
  #gathered: Measurement[] = [];
  #timer: Timer | undefined;

  constructor(options: MeasurementReportsOptions) {
    this.#options = options;
  }

  add(measurement: Measurement): void {
    this.#gathered.push(measurement);
    if (this.#gathered.length >= MOST_TOGETHER) void this.flush();
    else this.#timer ??= this.#options.clock.after(GATHER_MS, () => void this.flush());
  }

  /** Resolves when all measurements so far are sent. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = [];
    if (gathered.length > 0) await this.#options.send(gathered);
  }
}
