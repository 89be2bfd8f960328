/** Calls whose user has come, and whose agent has not: all voice processes were restarting when the media server called for one. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallStore } from '../../store/index.ts';
import type { Rooms } from './rooms.ts';

/** Between two looks, in milliseconds. */
const everyMs = 2_500;

export interface CallCaretakerOptions {
  readonly store: Pick<CallStore, 'unserved'> & { readonly calls: Pick<CallStore['calls'], 'lookAfter'> };
  readonly rooms: Pick<Rooms, 'waiting' | 'callAgent'>;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly logger: Logger;
}

export class CallCaretaker {
  readonly #options: CallCaretakerOptions;

  constructor(options: CallCaretakerOptions) {
    this.#options = options;
  }

  /**
   * Several may run side by side: each call is looked after by one. Where none comes for a minute, the reaper ends the call.
   * @returns for how many calls an agent was called again
   */
  async once(): Promise<number> {
    const { store, rooms, logger } = this.#options;
    const unserved = await store.unserved();
    const waiting = new Set(await rooms.waiting(unserved.map(({ room }) => room)));
    let called = 0;
    for (const { org, id, room } of unserved) {
      if (!waiting.has(room) || !(await store.calls.lookAfter({ org, id }))) continue;
      await rooms.callAgent(room, id);
      called += 1;
      logger.warn({ org, callId: id }, 'nobody had taken a call whose user waits: an agent is called again');
    }
    return called;
  }

  /** Looks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#options;
    while (!signal.aborted) {
      await this.once().catch((err: unknown) => logger.warn({ err }, 'callers who wait were not looked after; the next look comes'));
      await sleep(clock, everyMs * (0.75 + random() / 2), signal).catch(() => undefined);
    }
  }
}
