/** Dispatches an agent again for calls whose user waits without one: no voice process took the job while all of them were restarting. */
import type { Clock } from '../platform/clock.ts';
import { every } from '../platform/every.ts';
import type { Logger } from '../platform/logging.ts';
import type { CallStore } from '../store/index.ts';
import { dispatchMetadata, INBOUND_DISPATCH_METADATA } from './names.ts';
import type { Rooms } from './rooms.ts';

const INTERVAL_MS = 2_500;

export interface AgentRedispatcherOptions {
  readonly store: Pick<CallStore, 'unserved' | 'withoutCall'> & { readonly calls: Pick<CallStore['calls'], 'claimDispatch'> };
  readonly rooms: Pick<Rooms, 'inbound' | 'waiting' | 'callAgent'>;
  readonly clock: Clock;
  /** Returns x with 0 ≤ x < 1. */
  readonly random: () => number;
  readonly logger: Logger;
}

export class AgentRedispatcher {
  readonly #options: AgentRedispatcherOptions;

  constructor(options: AgentRedispatcherOptions) {
    this.#options = options;
  }

  /**
   * Several replicas may run it: one of them claims each registered call, and of two agents for a caller by phone, whose call the first one
   * registers, the second one leaves. Where no agent comes for a minute, the stale-call sweeper ends the call.
   * @returns for how many calls it dispatched an agent
   */
  async once(): Promise<number> {
    const { store, rooms, logger } = this.#options;
    const [unserved, callers] = await Promise.all([store.unserved(), rooms.inbound().then((inbound) => store.withoutCall(inbound))]);
    const waiting = new Set(await rooms.waiting([...unserved.map(({ room }) => room), ...callers]));
    let dispatched = 0;
    const dispatch = async (room: string, metadata: string, call: object): Promise<void> => {
      await rooms.callAgent(room, metadata);
      dispatched += 1;
      logger.warn(call, 'no agent had joined a call whose user waits; dispatched one again');
    };
    for (const { org, id, room } of unserved)
      if (waiting.has(room) && (await store.calls.claimDispatch({ org, id })))
        await dispatch(room, dispatchMetadata(id), { org, callId: id });
    for (const room of callers) if (waiting.has(room)) await dispatch(room, INBOUND_DISPATCH_METADATA, { room });
    return dispatched;
  }

  run(signal: AbortSignal): Promise<void> {
    const failure = 'failed to look for calls without an agent; retrying';
    return every({ ...this.#options, intervalMs: INTERVAL_MS, failure, signal }, async () => void (await this.once()));
  }
}
