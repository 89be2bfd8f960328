/** Stores the transcript while the call goes on; a write that fails is retried. */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import { untilAborted } from '../../platform/aborted.ts';
import type { CallRef, CallStore, NewEvent } from '../../store/index.ts';
import type { CallMeters } from '../../calls/usage/call-meters.ts';
import type { Entry } from '../conversation/entry.ts';
import type { RedactingLog } from './redacting-log.ts';

/** Most entries that wait: more than the longest call has. */
const MAX_WAITING = 20_000;
/** Most entries in one statement. */
const BATCH_SIZE = 500;
/** Pauses after failures, in milliseconds: 250 after the first. */
const BACKOFF = { intervalMs: 125, longestIntervalMs: 5_000 } as const;

export interface LogWriterOptions {
  readonly log: Pick<CallStore['log'], 'add'>;
  readonly call: CallRef;
  /** Makes the events of a hand-over. */
  readonly eventsOf?: (takeover: NonNullable<Entry['takeover']>) => readonly NewEvent[];
  /** Meters of the call's usage, which is stored with the transcript. */
  readonly usage?: Pick<CallMeters, 'settled' | 'takeUnstored' | 'notStored'> | undefined;
  /** Called when rows are stored. */
  readonly onStored?: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LogWriter {
  readonly #options: LogWriterOptions;
  #waiting: readonly Entry[] = [];
  #lost = 0;
  #redaction: RedactingLog | undefined;
  #writing: Promise<void> | undefined;
  readonly #stopped = new AbortController();

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** Takes personal data out of all that is added from now on. */
  redact(redaction: RedactingLog): void {
    this.#redaction = redaction;
    redaction.forward((entries) => this.#enqueue(entries));
  }

  /** Adds entries. Never waits, never fails. */
  add(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    if (this.#redaction === undefined) this.#enqueue(entries);
    else this.#redaction.add(entries);
  }

  #enqueue(entries: readonly Entry[]): void {
    this.#waiting = [...this.#waiting, ...entries];
    const over = this.#waiting.length - MAX_WAITING;
    if (over > 0) {
      this.#waiting = this.#waiting.slice(over);
      this.#lost += over;
    }
    this.#writing ??= this.#write();
  }

  /**
   * Waits until all is written, `withinMs` at most; then it gives up on the rest.
   * @returns how many messages and turns are lost
   */
  async close({ withinMs }: { readonly withinMs: number }): Promise<number> {
    const timer = this.#options.clock.after(withinMs, () => this.#stopped.abort());
    try {
      await untilAborted(this.#redaction?.close() ?? Promise.resolve(), this.#stopped.signal).catch(() => undefined);
      const settled = this.#options.usage?.settled() ?? Promise.resolve();
      await untilAborted(settled, this.#stopped.signal).catch(() => undefined);
      // The last write has what was used after the last words, or while they were written.
      await this.#writing;
      this.#writing ??= this.#write();
      await this.#writing;
    } finally {
      timer.cancel();
      this.#stopped.abort();
    }
    return this.#lost + this.#waiting.length + (this.#redaction?.waiting ?? 0);
  }

  #write(): Promise<void> {
    const { log, call, eventsOf = () => [], usage, clock, logger } = this.#options;
    const failure = 'failed to store the transcript; retrying';
    return every({ ...BACKOFF, clock, logger, failure, signal: this.#stopped.signal }, async () => {
      const batch = this.#waiting.slice(0, BATCH_SIZE);
      const used = usage?.takeUnstored() ?? [];
      if (batch.length > 0 || used.length > 0)
        await log
          .add(call, {
            messages: batch.flatMap(({ message }) => message ?? []),
            turns: batch.flatMap(({ turn }) => turn ?? []),
            toolCalls: batch.flatMap(({ toolCall }) => toolCall ?? []),
            takeovers: batch.flatMap(({ takeover, toolCall }) =>
              takeover === undefined || toolCall === undefined
                ? []
                : [{ seq: toolCall.seq, agent: takeover.to, events: eventsOf(takeover) }],
            ),
            usage: used,
            redactions: this.#redaction?.counts,
          })
          .catch((error: unknown) => {
            if (used.length > 0) usage?.notStored();
            throw error;
          });
      if (batch.length > 0) this.#options.onStored?.();
      const written = new Set(batch);
      this.#waiting = this.#waiting.filter((entry) => !written.has(entry));
      if (this.#waiting.length > 0) return 'again';
      // The loop ends in the same turn as the last look at what waits: an entry added later begins a loop of its own.
      this.#writing = undefined;
      return 'stop';
    });
  }
}
