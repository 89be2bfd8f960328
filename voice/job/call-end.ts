/** The last two states of a call: it is hung up, and recorded in the database, the storage and the log. */
import type { Room } from '@livekit/rtc-node';

import { withTimeout } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { untilAborted } from '../../platform/aborted.ts';
import { isTerminal, type CallRecord } from '../../store/index.ts';
import type { Rooms } from '../../calls/rooms.ts';
import type { EndReason, Finish } from '../finish-reason.ts';
import type { ConversationFigures } from '../conversation/figures.ts';
import { leaveRoom } from '../job-processes/leave-room.ts';
import type { Transfers } from '../phone/index.ts';
import type { OpenRecording, Saved } from '../recording/index.ts';
import type { LogWriter } from './log-writer.ts';
import { persist } from './persist.ts';
import type { PreparedCall } from './prepare.ts';
import type { Services } from './services.ts';

/** Longest waits, in milliseconds. */
const TIMEOUTS = {
  conversation: 15_000,
  conversationAtStop: 5_000,
  leave: 2_000,
  tools: 10_000,
  transcript: 30_000,
  state: 60_000,
} as const;

export interface CallEndOptions {
  readonly services: Pick<Services, 'store' | 'lifecycle' | 'clock'>;
  readonly rooms: Pick<Rooms, 'close'>;
  /** Aborts when the process has to stop. */
  readonly stop: AbortSignal;
}

export interface ServedCall {
  readonly call: CallRecord;
  readonly room: Room;
  readonly log: Logger;
  readonly writer: LogWriter;
  readonly recording: OpenRecording | undefined;
}

export interface EndedCall {
  readonly finish: Finish;
  readonly prepared: PreparedCall | undefined;
  readonly transfers: Transfers;
}

export class CallEnd {
  readonly #options: CallEndOptions;

  constructor(options: CallEndOptions) {
    this.#options = options;
  }

  // -- end

  /** Hangs up. @returns while the room is being closed: nothing waits for that */
  async hangUp(served: ServedCall, { finish, prepared, transfers }: EndedCall): Promise<{ readonly roomClosed: Promise<void> }> {
    const { call, log } = served;
    await this.#closeConversation(prepared, log);
    // Two connected people go on without the agent, and so does a call that another job serves.
    const goesOn = transfers.connected || (finish.reason === 'elsewhere' && (await this.#goesOn(call)));
    return { roomClosed: goesOn ? Promise.resolve() : this.#leaveAndClose(served) };
  }

  async #leaveAndClose({ call, room, log }: ServedCall): Promise<void> {
    const left = leaveRoom(room).catch((err: unknown) => log.warn({ err }, 'failed to leave the room of a call'));
    await withTimeout(this.#options.services.clock, TIMEOUTS.leave, left);
    await this.closeRoom(call.room, log);
  }

  async #closeConversation(prepared: PreparedCall | undefined, log: Logger): Promise<void> {
    if (prepared === undefined) return;
    const { services, stop } = this.#options;
    // The recording is complete once it is closed: that takes its time on a busy processor, and a stopping process has none.
    const withinMs = stop.aborted ? TIMEOUTS.conversationAtStop : TIMEOUTS.conversation;
    const close = prepared.conversation.close().catch((err: unknown) => log.warn({ err }, 'failed to close the conversation'));
    const closed = close.then(() => true);
    if ((await withTimeout(services.clock, withinMs, closed)) !== true)
      log.warn(`the conversation was not closed within ${withinMs / 1_000} s; the call ends without it`);
    // The usage of the call has the requests that are given up here.
    await prepared.providers.close().catch((err: unknown) => log.warn({ err }, 'failed to close the providers'));
  }

  async #goesOn({ org, id }: CallRecord): Promise<boolean> {
    const now = await this.#options.services.store.calls.calls.get({ org, id }).catch(() => undefined);
    return now !== undefined && !isTerminal(now.status);
  }

  /** Closes the room. Never fails: a room closes by itself once everybody has left. */
  async closeRoom(room: string | undefined, log: Logger): Promise<void> {
    if (room === undefined) return;
    await this.#options.rooms.close(room).catch((err: unknown) => log.warn({ err, room }, 'failed to close the room of a call'));
  }

  // -- record

  /**
   * Records the call. @param ended has the time when the call was over, by the monotonic clock, and the start that may still be being
   * recorded
   */
  async record(
    serving: ServedCall,
    ended: EndedCall & {
      readonly over: number;
      readonly starting: Promise<void>;
      readonly closing: { readonly roomClosed: Promise<void> };
    },
  ): Promise<void> {
    const { call, writer, recording } = serving;
    const { finish, over, prepared, transfers } = ended;
    await this.#toolsDone(prepared);
    const lost = await writer.close({ withinMs: TIMEOUTS.transcript });
    const saved = (await recording?.save()) ?? 'none';
    await ended.starting;
    const record = await this.#recordEnd(serving, { reason: finish.reason, over, transferredTo: transfers.transferredTo });
    await ended.closing.roomClosed;
    if (finish.reason === 'elsewhere' && record !== undefined && !isTerminal(record.status))
      serving.log.info('another job serves the call');
    else logCall(serving, { record, lost, saved, figures: prepared?.conversation.figures() });
    if (!transfers.connected) return;
    const { stop } = this.#options;
    await transfers.attend({ longestMs: call.maxDurationMs, stop });
    // Two connected people go on while the process stops.
    if (!stop.aborted) await this.#leaveAndClose(serving);
  }

  /** Waits for tools, whose work after the end is part of the call. A process that has to stop waits for none. */
  async #toolsDone(prepared: PreparedCall | undefined): Promise<void> {
    const { services, stop } = this.#options;
    const done = untilAborted(prepared?.conversation.toolsDone() ?? Promise.resolve(), stop).catch(() => undefined);
    await withTimeout(services.clock, TIMEOUTS.tools, done);
  }

  async #recordEnd(
    { call, log }: ServedCall,
    { reason, over, transferredTo }: { readonly reason: EndReason; readonly over: number; readonly transferredTo: string | undefined },
  ): Promise<CallRecord | undefined> {
    const { lifecycle, clock, store } = this.#options.services;
    const { org, id } = call;
    try {
      if (reason === 'elsewhere') return await store.calls.calls.get({ org, id });
      const end = () => lifecycle.end({ org, id, reason, endedAgoMs: () => clock.monotonic() - over, transferredTo });
      const { call: ended } = await persist(end, { clock, logger: log, withinMs: TIMEOUTS.state, what: 'record the end of the call' });
      return ended;
    } catch (err) {
      log.error({ err, reason }, 'failed to record the end of the call; it ends as one whose job is lost');
      return undefined;
    }
  }
}

/** Logs one line for each call, with everything that a complaint raises first (docs/operations/logs.md). */
function logCall(
  { call, log }: ServedCall,
  {
    record,
    lost,
    saved,
    figures,
  }: {
    readonly record: CallRecord | undefined;
    readonly lost: number;
    readonly saved: Saved;
    readonly figures: ConversationFigures | undefined;
  },
): void {
  const { startedAt, endedAt } = record ?? call;
  const line = {
    agent: call.overrideAgentName ?? call.agentName,
    revision: call.revision,
    callType: call.callType,
    status: record?.status,
    reason: record?.finishReason,
    durationMs: startedAt === null || endedAt === null ? 0 : endedAt.getTime() - startedAt.getTime(),
    recording: saved,
    ...figures,
    ...(lost > 0 && { lost }),
  };
  if (record?.status === 'ended') log.info(line, 'the call is over');
  else log.warn(line, 'the call is over');
}
