/** Inbound phone calls: the job registers each when it meets the caller. */
import { RoomEvent, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import type { callerNames } from '../../crds/template.ts';
import { callSettingsOf, missingDynamicData } from '../../calls/call-settings.ts';
import { othersOfCall } from '../../calls/handoffs.ts';
import { servedBudget, storedBudget } from '../../calls/usage/budget.ts';
import type { CallLifecycle } from '../../calls/lifecycle.ts';
import type { SipGateway } from '../../calls/sip/gateway.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isTerminal, newCallId, type CallRecord, type FinishReason, type NewCall, type Store } from '../../store/index.ts';
import { sipParticipantOf, type SipParticipant } from './sip-participant.ts';

/** Longest wait for the caller on slow networks, in milliseconds: the SIP participant joins before the job is dispatched. */
const CALLER_TIMEOUT_MS = 15_000;

export interface InboundOptions {
  readonly store: Pick<Store, 'calls' | 'phoneRoutes' | 'agentRevisions'>;
  readonly lifecycle: Pick<CallLifecycle, 'register' | 'refuse'>;
  readonly gateway: Pick<SipGateway, 'hangUp'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A call that was taken on, and its caller, who may have left meanwhile. */
export interface InboundCall {
  readonly call: CallRecord;
  readonly caller: RemoteParticipant;
}

type Caller = SipParticipant & { readonly participant: RemoteParticipant };

export class InboundCalls {
  readonly #options: InboundOptions;

  constructor(options: InboundOptions) {
    this.#options = options;
  }

  /**
   * Waits for the caller, and takes the call on. The room has to be joined, and nothing published: until then it rings, and a caller who is
   * disconnected hears that the line is busy (SIP 486). A repeated INVITE leads to the same record.
   *
   * @returns undefined for a caller who has left, or who was refused and disconnected
   * @throws StoreError when Postgres doesn't answer; the caller is disconnected first
   */
  async take(room: Room, name: string): Promise<InboundCall | undefined> {
    const leg = await this.#caller(room);
    if (leg === undefined) return undefined;
    let taken: InboundCall | undefined;
    try {
      taken = await this.#register(leg, name);
    } finally {
      if (taken === undefined) await this.#disconnect(name, leg);
    }
    return taken;
  }

  async #caller(room: Room): Promise<Caller | undefined> {
    const { promise, resolve } = Promise.withResolvers<Caller>();
    const look = (): void => {
      for (const participant of room.remoteParticipants.values()) {
        const leg = sipParticipantOf(participant);
        if (leg !== undefined) resolve({ ...leg, participant });
      }
    };
    const events = [RoomEvent.ParticipantConnected, RoomEvent.ParticipantAttributesChanged] as const;
    for (const event of events) room.on(event, look);
    look();
    try {
      return await withTimeout(this.#options.clock, CALLER_TIMEOUT_MS, promise);
    } finally {
      for (const event of events) room.off(event, look);
    }
  }

  async #register(leg: Caller, room: string): Promise<InboundCall | undefined> {
    const { store, lifecycle, clock, logger } = this.#options;
    const route = await store.phoneRoutes.find(leg.ownNumber);
    const agentName = route?.inboundAgent ?? undefined;
    const callId = newCallId();
    const serving =
      route && agentName !== undefined ? await store.agentRevisions.servingByName({ org: route.org, agentName, callId }) : undefined;
    if (route === undefined || serving === undefined) {
      // Without an agent there is no revision for the record of a call.
      logger.warn({ number: leg.ownNumber, org: route?.org, agent: agentName }, 'refused an inbound call: no agent serves its number');
      return undefined;
    }
    const settings = callSettingsOf(serving.config);
    const budget = servedBudget(serving, clock.now());
    const call: NewCall = {
      org: route.org,
      id: callId,
      callType: 'phone_call',
      direction: 'inbound',
      agentName: serving.agentName,
      agentDisplayName: settings.displayName,
      revision: serving.revision,
      canary: serving.canary,
      others: await othersOfCall({ org: route.org, callId, config: serving.config }, store.agentRevisions),
      maxDurationMs: settings.maxDurationMs,
      ...storedBudget(budget),
      recordingEnabled: settings.recordingEnabled,
      recordingRetentionMs: settings.recordingRetentionMs,
      room,
      fromNumber: leg.otherNumber,
      toNumber: leg.ownNumber,
      sipCallId: leg.sipCallId,
    };
    const refuse = async (reason: FinishReason, why: object): Promise<undefined> => {
      logger.warn({ org: call.org, number: leg.ownNumber, reason, ...why }, 'refused an inbound call');
      await lifecycle.refuse(call, reason);
    };
    const missing = missingDynamicData(settings, callerData(leg));
    if (missing.length > 0) return refuse('call_failed', { missing });
    const registration = await lifecycle.register({ ...call, dynamicData: callerData(leg) });
    // "invalid_payment" is the one reason about money.
    if (registration.outcome === 'budget_exceeded') return refuse('invalid_payment', { budget: budget?.amount });
    if (registration.outcome !== 'registered') return refuse('concurrent_call_limit_reached', {});
    const known = registration.call;
    // A repeated INVITE after the call was over, or while another job has it: this room is not the one of the call.
    return isTerminal(known.status) || known.room !== room ? undefined : { call: known, caller: leg.participant };
  }

  async #disconnect(room: string, leg: SipParticipant): Promise<void> {
    await this.#options.gateway
      .hangUp(room, leg.identity)
      .catch((err: unknown) => this.#options.logger.warn({ err, room }, 'failed to disconnect a caller; closing the room instead'));
  }
}

/** Returns the data that every inbound call has: names that an agent may use, and may require. */
function callerData({ ownNumber, otherNumber }: SipParticipant): Readonly<Record<(typeof callerNames)[number], string>> {
  return { from_number: otherNumber, to_number: ownNumber };
}
