/** Commands for calls that go on: stored, carried out by the call's job, and answered with what came of them. */
import { SUPERVISOR_TOKEN_TTL_MS, supervisorTokenOf } from '../../calls/access-token.ts';
import type { MediaServer } from '../../calls/media-server.ts';
import { listenerIdentityOf, supervisorIdentityOf } from '../../calls/names.ts';
import type { Rooms } from '../../calls/rooms.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import {
  isTerminal,
  newCommandId,
  StoreError,
  type CallRecord,
  type CallStore,
  type CommandKind,
  type CommandRecord,
  type CommandRef,
} from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { currentRequest } from '../http/request-state.ts';
import type { CallCommandAnswer, CallEntranceAnswer } from './control-answers.ts';
import { requireMediaServer } from './register-call.ts';

/** Longest wait for what comes of a command, in milliseconds. */
const OUTCOME_MS = 4_000;
/** Time after which the job is told once more: a message may be lost while its connection is restored. */
const AGAIN_MS = 1_000;
const POLL_MS = 50;

export interface CallControlOptions {
  readonly commands: Pick<CallStore['commands'], 'add' | 'get' | 'expire' | 'ofCall'>;
  /** Absent without a media server. */
  readonly rooms: Pick<Rooms, 'control'> | undefined;
  readonly mediaServer: MediaServer | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface AskedCommand {
  readonly kind: CommandKind;
  readonly body: Readonly<Record<string, unknown>>;
}

export class CallControl {
  readonly #options: CallControlOptions;

  constructor(options: CallControlOptions) {
    this.#options = options;
  }

  /**
   * Has a command carried out by the call's job, once. Sent again with the same Idempotency-Key it is the same command.
   * @returns the command, which is `running` where it takes longer
   * @throws ApiError `conflict` with the reason where it is not carried out, `unavailable` without a media server that answers
   */
  async carryOut(caller: Caller, call: CallRecord, asked: AskedCommand): Promise<CommandRecord> {
    const rooms = requireMediaServer(this.#options.rooms);
    if (asked.kind === 'transfer' && call.callType !== 'phone_call')
      throw new ApiError('conflict', "a web call can't be transferred: only phone calls can");
    const { org, callId, id } = await this.#add(caller, call, asked);
    const found = await this.#outcome(rooms, call, { org, callId, id });
    if (found === undefined) throw new ApiError('conflict', 'the call was deleted meanwhile');
    if (found.status === 'refused' || found.status === 'expired') throw new ApiError('conflict', found.reason ?? 'it was not carried out');
    return found;
  }

  /**
   * Lets somebody into the room of a call: to hear it, or to take it over.
   * @throws ApiError `conflict` for a call that doesn't go on, `unavailable` without a media server
   */
  async admit(caller: Caller, call: CallRecord, kind: 'listen' | 'take_over'): Promise<CallEntranceAnswer> {
    const { mediaServer, clock, logger } = this.#options;
    const server = requireMediaServer(mediaServer);
    const { id } = await this.#add(caller, call, { kind, body: {} }, { done: true });
    const speaks = kind === 'take_over';
    const identity = speaks ? supervisorIdentityOf(id) : listenerIdentityOf(id);
    const { userId: user, keyId } = caller;
    logger.info({ callId: call.id, org: call.org, commandId: id, kind, user, keyId }, 'let somebody into the room of a call');
    const expiresAt = new Date(clock.now() + SUPERVISOR_TOKEN_TTL_MS);
    return {
      command_id: id,
      identity,
      access_token: await supervisorTokenOf(server, { room: call.room, identity, speaks }),
      media_url: server.publicUrl,
      expires_at: expiresAt.toISOString(),
    };
  }

  /**
   * Writes a command down. @param options.done true for one that needs no job
   * @throws ApiError `conflict` for a call that doesn't go on, or has as many commands as it may have
   */
  async #add({ keyId, userId }: Caller, call: CallRecord, { kind, body }: AskedCommand, { done = false } = {}): Promise<CommandRecord> {
    const id = newCommandId(currentRequest()?.newUuid());
    const ref = { org: call.org, callId: call.id, id };
    const added = await this.#options.commands.add({ ...ref, kind, body, createdBy: userId, createdByKey: keyId, done });
    if (added !== undefined) return added;
    if (isTerminal(call.status)) throw new ApiError('conflict', 'the call is over');
    if (call.status === 'registered') throw new ApiError('conflict', 'the call has not begun: wait until its call_status is ongoing');
    throw new ApiError('conflict', 'the call has ended, or as many commands were sent to it as it takes (1,000)');
  }

  /** Returns the commands of a call, the oldest first. */
  ofCall({ org, id }: CallRecord): Promise<readonly CommandRecord[]> {
    return this.#options.commands.ofCall({ org, id });
  }

  /** Waits for what comes of a command. One that the job has not taken by then is called off, for good. */
  async #outcome(rooms: Pick<Rooms, 'control'>, call: CallRecord, ref: CommandRef): Promise<CommandRecord | undefined> {
    const { commands, clock } = this.#options;
    let told: number | undefined;
    let present = false;
    try {
      const isOver = (found: CommandRecord | undefined): boolean => found === undefined || found.finishedAt !== null;
      const look = async (): Promise<CommandRecord | undefined> => {
        const found = await commands.get(ref);
        if (found?.status === 'pending' && (told === undefined || clock.monotonic() - told >= AGAIN_MS)) {
          told = clock.monotonic();
          present = await rooms.control(call.room);
        }
        return found;
      };
      const found = await pollUntil(look, isOver, { everyMs: POLL_MS, withinMs: OUTCOME_MS, clock });
      if (found?.status !== 'pending') return found;
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      await commands.expire(ref, 'the media server did not answer');
      throw new ApiError('unavailable', 'the media server does not answer, and nothing was done: try again', { cause });
    }
    const seconds = OUTCOME_MS / 1_000;
    return commands.expire(
      ref,
      present
        ? `the agent did not take it within ${seconds} s, and it is not carried out: it begins or ends its call, or carries out another command`
        : 'no agent is in the call, and it is not carried out',
    );
  }
}

export function commandToRest(command: CommandRecord): CallCommandAnswer {
  const { id, kind, body, status, reason, createdBy, createdByKey, createdAt, finishedAt } = command;
  return {
    command_id: id,
    kind,
    body,
    status,
    ...(reason !== null && { reason }),
    ...(createdBy !== null && { created_by_user_id: createdBy }),
    created_by_key: createdByKey,
    created_at: createdAt.toISOString(),
    ...(finishedAt !== null && { finished_at: finishedAt.toISOString() }),
  };
}
