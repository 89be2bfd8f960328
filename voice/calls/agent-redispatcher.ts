/** Dispatches an agent again for calls whose user waits without one: no voice process took the job while all of them were restarting. */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallStore } from '../../store/index.ts';
import type { Rooms } from './rooms.ts';

const INTERVAL_MS = 2_500;

export interface AgentRedispatcherOptions {
  readonly store: Pick<CallStore, 'unserved'> & { readonly calls: Pick<CallStore['calls'], 'lookAfter'> };
  readonly rooms: Pick<Rooms, 'waiting' | 'callAgent'>;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly logger: Logger;
}

export class AgentRedispatcher {
  readonly #options: AgentRedispatcherOptions;

  constructor(options: AgentRedispatcherOptions) {
    this.#options = options;
  }

  /**
   * Safe to run on several replicas: each call is claimed by one. Where no agent comes for a minute, the stale-call sweeper ends the call.
   * @returns for how many calls it dispatched an agent
   */
  async once(): Promise<number> {
    const { store, rooms, logger } = this.#options;
    const unserved = await store.unserved();
    const waiting = new Set(await rooms.waiting(unserved.map(({ room }) => room)));
    let dispatched = 0;
    for (const { org, id, room } of unserved) {
      if (!waiting.has(room) || !(await store.calls.lookAfter({ org, id }))) continue;
      await rooms.callAgent(room, id);
      dispatched += 1;
      logger.warn({ org, callId: id }, 'no agent had joined a call whose user waits; dispatched one again');
    }
    return dispatched;
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    const failure = 'failed to look for calls without an agent; retrying';
    return every({ ...this.#options, intervalMs: INTERVAL_MS, failure, signal }, async () => void (await this.once()));
  }
}
