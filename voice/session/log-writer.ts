/** Stores the transcript while the call goes on; what cannot be stored now is retried. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { currentTrace } from '../../platform/telemetry/tracing.ts';
import type { CallMessage, CallRef, CallStore, CallTurn } from '../../store/index.ts';
import type { Entry } from './transcript.ts';
import { traceTurn } from './turn-span.ts';

/** More than is said in the longest call. */
const mostWaiting = 20_000;
/** Entries in one statement. */
const mostAtOnce = 500;
const firstPauseMs = 250;
const longestPauseMs = 5_000;

export interface LogWriterOptions {
  readonly log: Pick<CallStore['log'], 'add'>;
  readonly call: CallRef;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LogWriter {
  readonly #options: LogWriterOptions;
  #waiting: readonly Entry[] = [];
  #lost = 0;
  #writing: Promise<void> | undefined;
  readonly #stopped = new AbortController();
  /** Of the call: what is said comes from elsewhere. */
  readonly #trace = currentTrace();

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** Never waits, never fails. */
  add(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    for (const entry of entries) traceTurn(entry, this.#trace);
    this.#waiting = [...this.#waiting, ...entries];
    const over = this.#waiting.length - mostWaiting;
    if (over > 0) {
      this.#waiting = this.#waiting.slice(over);
      this.#lost += over;
    }
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /**
   * Waits until all is written, `withinMs` at most; then it gives up on the rest.
   * @returns how many messages and turns are lost
   */
  async close({ withinMs }: { readonly withinMs: number }): Promise<number> {
    const timer = this.#options.clock.after(withinMs, () => this.#stopped.abort());
    try {
      await this.#writing;
    } finally {
      timer.cancel();
      this.#stopped.abort();
    }
    return this.#lost + this.#waiting.length;
  }

  async #write(): Promise<void> {
    const { log, call, clock, logger } = this.#options;
    let pauseMs = firstPauseMs;
    while (this.#waiting.length > 0 && !this.#stopped.signal.aborted) {
      const batch = this.#waiting.slice(0, mostAtOnce);
      try {
        await log.add(call, { messages: batch.flatMap(messageOf), turns: batch.flatMap(turnOf) });
        const written = new Set(batch);
        this.#waiting = this.#waiting.filter((entry) => !written.has(entry));
        pauseMs = firstPauseMs;
      } catch (err) {
        logger.warn({ err, waiting: this.#waiting.length }, 'failed to store the transcript; retrying');
        await sleep(clock, pauseMs, this.#stopped.signal).catch(() => undefined);
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
      }
    }
  }
}

function messageOf({ message }: Entry): readonly CallMessage[] {
  return message === undefined ? [] : [message];
}

function turnOf({ turn }: Entry): readonly CallTurn[] {
  return turn === undefined ? [] : [turn];
}
