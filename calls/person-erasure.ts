/** Erases all that is known of a person, in batches: what a worker that dies has left is due again for the next one. */
import type { Clock } from '../platform/clock.ts';
import { every } from '../platform/every.ts';
import type { Logger } from '../platform/logging.ts';
import type { CallStore } from '../store/index.ts';
import type { CallDeletion } from './call-deletion.ts';

const LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 30_000;
/** Longest time without a sign of the worker that has an erasure, in milliseconds. */
const CLAIM_MS = 60_000;
/** Pause until calls that are not over are looked at again, in milliseconds. */
const WAIT_MS = 30_000;
const BATCH_SIZE = 50;

export interface PersonErasureOptions {
  readonly erasures: CallStore['erasures'];
  readonly deletion: Pick<CallDeletion, 'delete'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class PersonErasure {
  readonly #options: PersonErasureOptions;

  constructor(options: PersonErasureOptions) {
    this.#options = options;
  }

  /** Erases until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const failure = 'failed to erase the data of a person; retrying';
    return every({ intervalMs: LOOK_MS, longestIntervalMs: LONGEST_LOOK_MS, clock, logger, failure, signal }, async () =>
      (await this.eraseDue()) > 0 ? 'again' : undefined,
    );
  }

  /** Erases a batch of each person that is due. @returns how many were. @throws StorageError, StoreError */
  async eraseDue(): Promise<number> {
    const { erasures, deletion, logger } = this.#options;
    const due = await erasures.due({ limit: 10 });
    for (const erasure of due) {
      if (!(await erasures.claim(erasure, { forMs: CLAIM_MS }))) continue;
      const { org, id } = erasure;
      const over = await erasures.callsOf(erasure, { over: true, limit: BATCH_SIZE });
      for (const call of over) await deletion.delete({ org, id: call, erasure: id });
      if (over.length < BATCH_SIZE) {
        await erasures.eraseTraces(erasure);
        const waitingCalls = (await erasures.callsOf(erasure, { over: false, limit: 1_000 })).length;
        await erasures.settle(erasure, { waitingCalls, againInMs: WAIT_MS });
        logger.info({ org, erasure: id, calls: over.length, waitingCalls }, 'erased data of a person');
      } else await erasures.settle(erasure, { waitingCalls: 1, againInMs: 0 });
    }
    return due.length;
  }
}
