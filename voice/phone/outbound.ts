/** Calls that go out by phone: the job dials when everything is ready to speak. */
import { userIdentityOf } from '../calls/names.ts';
import type { DialFailure } from '../calls/sip/gateway.ts';
import type { SipGateway } from '../calls/sip/gateway.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRecord, PhoneRoute, Store } from '../../store/index.ts';

/** How long a phone rings, in seconds: voice mail and the networks take over sooner, mostly. */
export const ringSeconds = 45;
/** The gateway hangs up by itself this long after the longest call that the agent allows, in seconds. */
const spareSeconds = 60;

/** Whether the trunk of a number is the installation's: only of `sip` numbers do users say where it leads. */
export const isOwnTrunk = ({ provider }: Pick<PhoneRoute, 'provider'>): boolean => provider !== 'sip';

export interface OutboundOptions {
  readonly store: Pick<Store, 'phoneRoutes' | 'calls'>;
  readonly gateway: Pick<SipGateway, 'dial' | 'hangUp'>;
  readonly logger: Logger;
}

export type Dialled =
  | { readonly outcome: 'answered' }
  | { readonly outcome: 'failed'; readonly reason: DialFailure }
  /** The call is over for another reason; the dial was canceled. */
  | { readonly outcome: 'given_up' };

export class OutboundCalls {
  readonly #options: OutboundOptions;

  constructor(options: OutboundOptions) {
    this.#options = options;
  }

  /**
   * Rings the other side, which comes into the room of the call as its user. Settles when somebody has answered or nobody
   * will, and leaves nothing ringing behind.
   *
   * @throws StoreError when Postgres doesn't answer
   */
  async dial(call: CallRecord, { signal }: { readonly signal: AbortSignal }): Promise<Dialled> {
    const { store, gateway, logger } = this.#options;
    const { org, id, room, fromNumber: from, toNumber: to } = call;
    if (from === null || to === null) throw new TypeError(`call ${id} goes from no number to no number`);
    const route = await store.phoneRoutes.get({ org, number: from });
    if (signal.aborted) return { outcome: 'given_up' };
    if (route?.outboundTrunk == null) {
      logger.warn({ callId: id, org, number: from }, 'a call could not be dialled: its number has no trunk any more');
      return { outcome: 'failed', reason: 'carrier_error' };
    }
    const identity = userIdentityOf(id);
    const aborted = Promise.withResolvers<'aborted'>();
    const onAbort = (): void => aborted.resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const longestSeconds = Math.ceil(call.maxDurationMs / 1000) + ringSeconds + spareSeconds;
      const ownTrunk = isOwnTrunk(route);
      const dialling = gateway.dial({ trunk: route.outboundTrunk, ownTrunk, from, to, room, identity, ringSeconds, longestSeconds });
      const outcome = await Promise.race([dialling, aborted.promise]);
      if (outcome === 'aborted') {
        await this.#hangUp(call, identity);
        return { outcome: 'given_up' };
      }
      if (outcome.outcome === 'answered') {
        // For whoever looks into the gateway's logs later: nothing to keep anybody waiting for.
        store.calls.calls
          .nameSipCall({ org, id, sipCallId: outcome.sipCallId })
          .catch((err: unknown) => logger.warn({ err, callId: id }, 'failed to store the SIP call id of a call'));
        return { outcome: 'answered' };
      }
      const { reason, status, message } = outcome;
      logger.info({ callId: id, org, reason, status, cause: message }, 'a call was not answered');
      await this.#hangUp(call, identity);
      return { outcome: 'failed', reason };
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #hangUp({ id, room }: CallRecord, identity: string): Promise<void> {
    const { gateway, logger } = this.#options;
    await gateway
      .hangUp(room, identity)
      .catch((err: unknown) => logger.warn({ err, callId: id }, 'failed to hang up on the callee; closing the room instead'));
  }
}
