/** Transfers of phone calls: cold (by REFER), or warm (the agent speaks to the target first). */
import { RoomEvent, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import type { SipGateway } from '../../../calls/sip/gateway.ts';
import { isSip } from '../../../calls/sip/termination.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';
import type { CallRecord, PhoneRoutes } from '../../../store/index.ts';
import type { TransferOutcome, TransferTarget } from '../../tools/tool-host.ts';
import { isOwnTrunk, RING_SECONDS } from '../outbound.ts';
import { Consultation, twice } from './consultation.ts';

export interface TransferVoice {
  /** Says something to those who hear the agent now; resolves when it has been said, or the signal aborts and the agent is silent. */
  say(text: string, signal: AbortSignal): Promise<void>;
  summary(): Promise<string>;
  /** Makes the agent deaf until the returned function is called. */
  deafen(): Promise<() => void>;
}

export interface TransferOptions {
  readonly room: Room;
  readonly call: CallRecord;
  readonly userIdentity: string;
  readonly gateway: Pick<SipGateway, 'dial' | 'refer' | 'hangUp' | 'connect'>;
  readonly routes: Pick<PhoneRoutes, 'get'>;
  readonly voice: TransferVoice;
  readonly over: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest time for the target to answer and the media server to report it, in milliseconds. */
const TRANSFER_TIMEOUT_MS = (RING_SECONDS + 15) * 1000;

const failed = (message: string): TransferOutcome => ({ outcome: 'failed', message });

export class Transfers {
  readonly #options: TransferOptions;
  #running: Promise<TransferOutcome> | undefined;
  #to: string | undefined;
  #other: string | undefined;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  /** Target to whom the call has gone; undefined as long as it hasn't. */
  get transferredTo(): string | undefined {
    return this.#to;
  }

  /** True if two people are left in the room, talking to each other. */
  get connected(): boolean {
    return this.#other !== undefined;
  }

  /**
   * Returns why the call is over when its user has left: one who was being transferred has gone to the target. Waits a bounded time for
   * the outcome.
   */
  async reasonOf<R extends string>(reason: R): Promise<R | 'call_transferred'> {
    const outcome = this.#running && (await withTimeout(this.#options.clock, TRANSFER_TIMEOUT_MS, this.#running));
    return outcome?.outcome === 'done' ? 'call_transferred' : reason;
  }

  /** Transfers the call, one transfer at a time. Never throws: after a failure the call goes on. */
  async transfer(target: TransferTarget): Promise<TransferOutcome> {
    if (this.#running !== undefined) return failed('The call is being transferred already.');
    this.#running = this.#transfer(target).catch((err: unknown) => {
      this.#options.logger.error({ err }, 'failed to transfer a call');
      return failed('The transfer failed for a technical reason.');
    });
    const outcome = await this.#running;
    if (outcome.outcome === 'done') this.#to = target.to;
    else this.#running = undefined;
    this.#options.logger.info({ mode: target.mode, outcome: outcome.outcome }, 'a transfer has ended');
    return outcome;
  }

  /**
   * Waits until one of the two connected people hangs up, or for `longestMs`: a gateway doesn't hang up on the one who is left.
   */
  async attend({ longestMs, stop }: { readonly longestMs: number; readonly stop: AbortSignal }): Promise<void> {
    const { room, userIdentity, clock } = this.#options;
    const pair = new Set([userIdentity, this.#other]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      const there = [...room.remoteParticipants.values()].filter(({ identity }) => pair.has(identity));
      if (there.length < pair.size) resolve();
    };
    const onStop = (): void => resolve();
    room.on(RoomEvent.ParticipantDisconnected, look);
    room.on(RoomEvent.Disconnected, look);
    stop.addEventListener('abort', onStop);
    look();
    if (!stop.aborted) await withTimeout(clock, longestMs, promise);
    stop.removeEventListener('abort', onStop);
    room.off(RoomEvent.ParticipantDisconnected, look);
    room.off(RoomEvent.Disconnected, look);
  }

  async #transfer(target: TransferTarget): Promise<TransferOutcome> {
    const { call, room, userIdentity, over } = this.#options;
    if (call.callType !== 'phone_call') return failed("This is a web call: it can't be transferred. Offer something else.");
    const user = [...room.remoteParticipants.values()].find(({ identity }) => identity === userIdentity);
    if (user === undefined) return failed('The caller has left.');
    const gone = left(room, userIdentity, over);
    try {
      return target.mode === 'Cold' ? await this.#cold(target) : await this.#warm(target, gone);
    } finally {
      gone.stop();
    }
  }

  /** Sends a REFER: the network of the caller rings the other side, and the caller leaves when it answers. */
  async #cold({ to }: TransferTarget): Promise<TransferOutcome> {
    const { gateway, call, userIdentity, logger } = this.#options;
    const uri = isSip(to) ? to : `tel:${to}`;
    const result = await gateway.refer({ room: call.room, identity: userIdentity, to: uri, ringSeconds: RING_SECONDS });
    if (result.outcome === 'done') return { outcome: 'done' };
    logger.info({ status: result.status, cause: result.message }, 'a transfer was refused');
    return failed(`The transfer was not accepted${statusWords(result.status)}. The caller is still on the line with you.`);
  }

  async #warm(target: TransferTarget, gone: Leaving): Promise<TransferOutcome> {
    const { gateway, call, voice, room, userIdentity, over, logger } = this.#options;
    if (isSip(target.to)) return failed('Only phone numbers can be spoken to before a transfer, and this is a SIP address.');
    const [own, other] = call.direction === 'inbound' ? [call.toNumber, call.fromNumber] : [call.fromNumber, call.toNumber];
    const route = own === null ? undefined : await this.#options.routes.get({ org: call.org, number: own });
    if (own === null || route?.outboundTrunk == null) return failed('The number of this call has no trunk to call anybody through.');
    const identity = `transfer-${call.id}`;
    const summary = voice.summary();
    const listen = await voice.deafen();
    const consultation = new Consultation({ room, roomName: call.room, caller: userIdentity, other: identity, gateway, logger });
    const briefing = new AbortController();
    let briefed = Promise.resolve();
    const giveUp = async (message: string): Promise<TransferOutcome> => {
      briefing.abort();
      const hangingUp = twice(() => gateway.hangUp(call.room, identity));
      await hangingUp.catch((err: unknown) => logger.warn({ err }, 'failed to hang up on the transfer target'));
      // The briefing of the target is not for the caller.
      await Promise.allSettled([briefed]);
      await consultation.resume();
      listen();
      return failed(message);
    };
    const from = target.callerID === 'Caller' && other !== null && other !== '' ? other : own;
    const longestSeconds = Math.ceil(call.maxDurationMs / 1000) + RING_SECONDS;
    // This watches from now on: a target may hang up before the gateway has said that it answered.
    const otherGone = left(room, identity, over);
    const goneAway = (): string =>
      gone.happened ? 'The caller has left.' : `${target.to} has hung up. The caller is still on the line with you.`;
    try {
      // A caller who is not on hold would hear the briefing of the target.
      await consultation.separate();
      if (gone.happened) return await giveUp(goneAway());
      const dialling = gateway.dial({
        trunk: route.outboundTrunk,
        ownTrunk: isOwnTrunk(route),
        from,
        to: target.to,
        room: call.room,
        identity,
        ringSeconds: RING_SECONDS,
        longestSeconds,
      });
      const dialled = await Promise.race([dialling, gone.promise]);
      if (dialled === 'left') return await giveUp(goneAway());
      if (dialled.outcome === 'failed') {
        const words = {
          line_busy: 'is busy',
          no_answer: 'does not answer',
          call_failed: 'cannot be reached',
          carrier_error: 'cannot be called now',
        };
        return await giveUp(`${target.to} ${words[dialled.reason]}. The caller is still on the line with you.`);
      }
      await consultation.separate();
      const brief = (text: string): Promise<void> => (briefed = voice.say(text, briefing.signal));
      const said = await Promise.race([summary.then(brief), gone.promise, otherGone.promise]);
      if (said === 'left') return await giveUp(goneAway());
      await consultation.connect();
      if (gone.happened || otherGone.happened) return await giveUp(goneAway());
      this.#other = identity;
      return { outcome: 'done' };
    } catch (error) {
      await giveUp('');
      throw error;
    } finally {
      otherGone.stop();
    }
  }
}

function statusWords(status: number | undefined): string {
  return status === undefined ? '' : ` (SIP ${status})`;
}

interface Leaving {
  readonly promise: Promise<'left'>;
  readonly happened: boolean;
  stop(): void;
}

/** Resolves when the participant leaves, or the call is over. */
function left(room: Room, identity: string, over: AbortSignal): Leaving {
  const { promise, resolve } = Promise.withResolvers<'left'>();
  let happened = false;
  const onOver = (): void => {
    happened = true;
    resolve('left');
  };
  const onLeft = (participant: RemoteParticipant): void => {
    if (participant.identity === identity) onOver();
  };
  room.on(RoomEvent.ParticipantDisconnected, onLeft);
  over.addEventListener('abort', onOver, { once: true });
  if (over.aborted) onOver();
  return {
    promise,
    get happened() {
      return happened;
    },
    stop() {
      room.off(RoomEvent.ParticipantDisconnected, onLeft);
      over.removeEventListener('abort', onOver);
    },
  };
}
