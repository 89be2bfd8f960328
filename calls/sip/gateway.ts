/** The media server's SIP API: dials, transfers, hangs up. */
import { RoomServiceClient, SipCallError, SipClient, TwirpError } from 'livekit-server-sdk';

import { errorMessageOf } from '../../platform/caught.ts';
import { httpUrlOf, type MediaServer } from '../media-server.ts';
import type { FinishReason } from '../../store/index.ts';

/** Finish reasons of a call that was dialled and not answered. */
export type DialFailure = Extract<FinishReason, 'line_busy' | 'no_answer' | 'call_failed' | 'carrier_error'>;

export interface DialOptions {
  readonly trunk: string;
  readonly from: string;
  /** The callee: E.164, or whatever the trunk dials. */
  readonly to: string;
  readonly room: string;
  /** Identity of the participant that the callee becomes. */
  readonly identity: string;
  /** How long it may ring, in seconds. */
  readonly ringSeconds: number;
  /** Seconds after which the gateway hangs up by itself. */
  readonly longestSeconds?: number;
  /** The operator of the installation chose the trunk's address, not a user. */
  readonly ownTrunk?: boolean;
}

export type DialOutcome =
  | { readonly outcome: 'answered'; readonly sipCallId: string }
  | { readonly outcome: 'failed'; readonly reason: DialFailure; readonly status?: number; readonly message: string };

export type TransferResult =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'failed'; readonly status?: number; readonly message: string };

export interface TransferRequest {
  readonly room: string;
  readonly identity: string;
  /** `tel:` or `sip:` URI. */
  readonly to: string;
  readonly ringSeconds: number;
}

export interface SipGateway {
  /**
   * Finds the host, or host:port, that an outbound trunk leads to; undefined where there is no such trunk.
   * @throws TwirpError and others when the media server does not answer
   */
  trunkAddress(trunk: string): Promise<string | undefined>;
  /** Dials, and waits for the outcome. Never throws. */
  dial(options: DialOptions): Promise<DialOutcome>;
  /** Transfers a participant by REFER; they leave the room when it is done. */
  refer(request: TransferRequest): Promise<TransferResult>;
  /** Disconnects a participant: the gateway answers 486 while it still rings, and hangs up otherwise. Succeeds for one who has left. */
  hangUp(room: string, identity: string): Promise<void>;
  /** Sets whether a participant hears these tracks. Succeeds for one who has left. */
  connect(room: string, identity: string, tracks: readonly string[], connected: boolean): Promise<void>;
}

/** Longest time for a request other than a dial, in seconds. */
const REQUEST_SECONDS = 5;

export function createSipGateway(server: Pick<MediaServer, 'url' | 'apiKey' | 'apiSecret'>): SipGateway {
  const { apiKey, apiSecret } = server;
  const host = httpUrlOf(server);
  // A second attempt at a dial would ring twice.
  const options = { requestTimeout: REQUEST_SECONDS, failover: false };
  const sip = new SipClient(host, apiKey, apiSecret, options);
  const rooms = new RoomServiceClient(host, apiKey, apiSecret, options);
  return {
    async trunkAddress(trunk) {
      const found = await sip.listSipOutboundTrunk({ trunkIds: [trunk] });
      return found.find(({ sipTrunkId }) => sipTrunkId === trunk)?.address;
    },
    async dial({ trunk, from, to, room, identity, ringSeconds, longestSeconds }) {
      try {
        const { sipCallId } = await sip.createSipParticipant(trunk, to, room, {
          participantIdentity: identity,
          fromNumber: from,
          waitUntilAnswered: true,
          ringingTimeout: ringSeconds,
          timeout: ringSeconds + REQUEST_SECONDS,
          playDialtone: false,
          ...(longestSeconds !== undefined && { maxCallDuration: longestSeconds }),
        });
        return { outcome: 'answered', sipCallId };
      } catch (error) {
        return { outcome: 'failed', ...dialFailureOf(error) };
      }
    },
    async refer({ room, identity, to, ringSeconds }) {
      try {
        await sip.transferSipParticipant(room, identity, to, { ringingTimeout: ringSeconds, timeout: ringSeconds + REQUEST_SECONDS });
        return { outcome: 'done' };
      } catch (error) {
        return { outcome: 'failed', ...sipStatus(error) };
      }
    },
    hangUp: (room, identity) => unlessGone(rooms.removeParticipant(room, identity)),
    connect: (room, identity, tracks, connected) => unlessGone(rooms.updateSubscriptions(room, identity, [...tracks], connected)),
  };
}

const unlessGone = (request: Promise<void>): Promise<void> =>
  request.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });

/**
 * | SIP status | reason |
 * |---|---|
 * | 486, 600 | `line_busy` |
 * | 408, 480 | `no_answer` |
 * | 401, 403, 407, 5xx | `carrier_error`: the trunk's fault, not the callee's |
 * | every other 4xx and 6xx | `call_failed` |
 * | none | `carrier_error` |
 *
 * @param status final, of the INVITE
 */
export function dialFailureOfStatus(status: number | undefined): DialFailure {
  if (status === undefined || status < 400) return 'carrier_error';
  if (status === 486 || status === 600) return 'line_busy';
  if (status === 408 || status === 480) return 'no_answer';
  if (status === 401 || status === 403 || status === 407 || (status >= 500 && status < 600)) return 'carrier_error';
  return 'call_failed';
}

/** Tells from the media server's error why a dial failed. */
export function dialFailureOf(error: unknown): { readonly reason: DialFailure; readonly status?: number; readonly message: string } {
  const known = sipStatus(error);
  if (known.status !== undefined) return { reason: dialFailureOfStatus(known.status), ...known };
  return { reason: ranOut(error) ? 'no_answer' : 'carrier_error', ...known };
}

/**
 * Whether it rang as long as it may without an answer, as noticed here, by the media server, or by its SIP service. That service answers
 * `canceled` for everything without a final response, and only its message distinguishes a phone that rang from a trunk that sent nothing.
 */
function ranOut(error: unknown): boolean {
  if (!(error instanceof TwirpError)) return error instanceof Error && error.name === 'TimeoutError';
  if (error.code === 'deadline_exceeded') return true;
  return error.code === 'canceled' && /request timed out|\b[1-9]\d* intermediate responses/.test(error.message);
}

function sipStatus(error: unknown): { readonly status?: number; readonly message: string } {
  const message = errorMessageOf(error);
  if (!(error instanceof TwirpError)) return { message };
  const { sipStatusCode } = SipCallError.fromServerError(error);
  return sipStatusCode === undefined || Number.isNaN(sipStatusCode) ? { message } : { status: sipStatusCode, message };
}

function isNotFound(error: unknown): boolean {
  return error instanceof TwirpError && error.code === 'not_found';
}
