/** Outbound phone calls: the job dials when everything is ready to speak. */
import { userIdentityOf } from '../../calls/names.ts';
import type { DialFailure, SipGateway } from '../../calls/sip/gateway.ts';
import type { Logger } from '../../platform/logging.ts';
import { untilAborted } from '../../platform/aborted.ts';
import type { CallRecord, PhoneRoute, Store } from '../../store/index.ts';

/** Longest time that a phone rings, in seconds: voice mail and the networks take over sooner, mostly. */
export const RING_SECONDS = 45;
/** Time in seconds, beyond the longest call that the agent allows, after which the gateway hangs up by itself. */
const SPARE_SECONDS = 60;

/** Returns whether the trunk of a number is the installation's: users say only for type `SIP` where the trunk leads. */
export const isOwnTrunk = ({ type }: Pick<PhoneRoute, 'type'>): boolean => type !== 'SIP';

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
   * Rings the callee, who joins the room of the call as its user. Resolves when the callee has answered or the dial has failed, and leaves
   * no phone ringing.
   *
   * @throws StoreError when Postgres doesn't answer
   */
  async dial(call: CallRecord, { signal }: { readonly signal: AbortSignal }): Promise<Dialled> {
    const { store, gateway, logger } = this.#options;
    const { org, id, room, fromNumber: from, toNumber: to } = call;
    if (from === null || to === null) throw new TypeError(`call ${id} has no number to call from, or none to call`);
    const route = await store.phoneRoutes.get({ org, number: from });
    if (signal.aborted) return { outcome: 'given_up' };
    if (route?.outboundTrunk == null) {
      logger.warn({ callId: id, org, number: from }, 'failed to dial a call: its number no longer has a trunk');
      return { outcome: 'failed', reason: 'carrier_error' };
    }
    const identity = userIdentityOf(id);
    const longestSeconds = Math.ceil(call.maxDurationMs / 1000) + RING_SECONDS + SPARE_SECONDS;
    const ownTrunk = isOwnTrunk(route);
    const dialling = gateway.dial({
      trunk: route.outboundTrunk,
      ownTrunk,
      from,
      to,
      room,
      identity,
      ringSeconds: RING_SECONDS,
      longestSeconds,
    });
    // Only the signal rejects here: a dial never does.
    const outcome = await untilAborted(dialling, signal).catch(() => undefined);
    if (outcome?.outcome === 'answered') {
      // Only people who compare with the gateway's logs need the id: the call does not wait for it.
      store.calls.calls
        .nameSipCall({ org, id, sipCallId: outcome.sipCallId })
        .catch((err: unknown) => logger.warn({ err, callId: id }, 'failed to store the SIP call id of a call'));
      return { outcome: 'answered' };
    }
    if (outcome !== undefined) {
      const { reason, status, message } = outcome;
      logger.info({ callId: id, org, reason, status, cause: message }, 'a call was not answered');
    }
    await this.#hangUp(call, identity);
    return outcome === undefined ? { outcome: 'given_up' } : { outcome: 'failed', reason: outcome.reason };
  }

  async #hangUp({ id, room }: CallRecord, identity: string): Promise<void> {
    const { gateway, logger } = this.#options;
    await gateway
      .hangUp(room, identity)
      .catch((err: unknown) => logger.warn({ err, callId: id }, 'failed to hang up on the callee; closing the room instead'));
  }
}
