/** The end of a call: hanging up, writing down what was, and the one line that tells it. */
import { sleep } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isTerminal, type CallRecord } from '../../store/index.ts';
import type { Rooms } from '../calls/rooms.ts';
import type { Transfers } from '../phone/index.ts';
import type { OpenRecording, Saved } from '../recording/index.ts';
import type { ConversationFigures } from '../session/statistics.ts';
import type { LogWriter } from '../session/log-writer.ts';
import type { End, EndReason } from './ending.ts';
import { persist } from './persist.ts';
import type { PreparedCall } from './prepare.ts';
import type { Services } from './services.ts';

/** How long its parts may take, in milliseconds. */
const patience = { session: 5_000, transcript: 30_000, state: 60_000 } as const;

export interface CallEndOptions {
  readonly services: Pick<Services, 'store' | 'lifecycle' | 'clock'>;
  readonly rooms: Pick<Rooms, 'close'>;
  /** Aborts when the process has to stop. */
  readonly stop: AbortSignal;
}

/** What is left of a call that was served. */
export interface ServedCall {
  readonly call: CallRecord;
  readonly log: Logger;
  readonly writer: LogWriter;
  readonly recording: OpenRecording | undefined;
}

export class CallEnd {
  readonly #options: CallEndOptions;

  constructor(options: CallEndOptions) {
    this.#options = options;
  }

  /** Hangs up, and writes down what was. */
  async finish(options: {
    readonly serving: ServedCall;
    readonly end: End;
    /** When the call was over, by the monotonic clock. */
    readonly over: number;
    readonly starting: Promise<void>;
    readonly prepared: PreparedCall | undefined;
    readonly transfers: Transfers;
  }): Promise<void> {
    const { serving, end, over, starting, prepared, transfers } = options;
    const { call, writer, recording, log } = serving;
    const { clock } = this.#options.services;
    await this.#closeSession(prepared, log);
    // Two who were connected go on without the agent, and so does a call that another job has.
    const goesOn = transfers.connected || (end.reason === 'elsewhere' && (await this.#goesOn(call)));
    const closing = goesOn ? undefined : this.closeRoom(call.room, log);
    const lost = await writer.close({ withinMs: patience.transcript });
    const saved = (await recording?.save()) ?? 'none';
    await starting;
    const ended = await this.#end(serving, {
      reason: end.reason,
      agoMs: () => clock.monotonic() - over,
      transferredTo: transfers.transferredTo,
    });
    await closing;
    await prepared?.providers.close().catch((err: unknown) => log.warn({ err }, 'the providers could not be closed'));
    this.#tell(serving, { ended, lost, saved, figures: prepared?.conversation.figures() });
    if (!transfers.connected) return;
    await transfers.attend({ longestMs: call.maxDurationMs, stop: this.#options.stop });
    // Whoever talks goes on while the process stops.
    if (!this.#options.stop.aborted) await this.closeRoom(call.room, log);
  }

  async #goesOn({ org, id }: CallRecord): Promise<boolean> {
    const now = await this.#options.services.store.calls.calls.get({ org, id }).catch(() => undefined);
    return now !== undefined && !isTerminal(now.status);
  }

  async #closeSession(prepared: PreparedCall | undefined, log: Logger): Promise<void> {
    const { clock } = this.#options.services;
    if (prepared === undefined) return;
    const enough = new AbortController();
    const closed = prepared.conversation.close().catch((err: unknown) => log.warn({ err }, 'the session could not be closed orderly'));
    await Promise.race([closed, sleep(clock, patience.session, enough.signal).catch(() => undefined)]);
    enough.abort();
  }

  async #end(
    { call, log }: ServedCall,
    {
      reason,
      agoMs,
      transferredTo,
    }: { readonly reason: EndReason; readonly agoMs: () => number; readonly transferredTo: string | undefined },
  ): Promise<CallRecord | undefined> {
    const { lifecycle, clock, store } = this.#options.services;
    const { org, id } = call;
    try {
      if (reason === 'elsewhere') return await store.calls.calls.get({ org, id });
      const { call: ended } = await persist(() => lifecycle.end({ org, id, reason, endedAgoMs: agoMs(), transferredTo }), {
        clock,
        logger: log,
        withinMs: patience.state,
        what: 'the end of the call',
      });
      return ended;
    } catch (err) {
      log.error({ err, reason }, 'the end of the call could not be written down: it ends as one whose job is lost');
      return undefined;
    }
  }

  /** One line for each call, with everything that is asked first when somebody complains. */
  #tell(
    { call, log }: ServedCall,
    of: {
      readonly ended: CallRecord | undefined;
      readonly lost: number;
      readonly saved: Saved;
      readonly figures: ConversationFigures | undefined;
    },
  ): void {
    const { ended, lost, saved, figures } = of;
    const { startedAt, endedAt } = ended ?? call;
    const line = {
      agent: call.overrideAgentName ?? call.agentName,
      revision: call.revision,
      callType: call.callType,
      status: ended?.status,
      reason: ended?.finishReason,
      durationMs: startedAt === null || endedAt === null ? 0 : endedAt.getTime() - startedAt.getTime(),
      recording: saved,
      ...figures,
      ...(lost > 0 && { lost }),
    };
    if (ended?.status === 'ended') log.info(line, 'the call is over');
    else log.warn(line, 'the call is over');
  }

  /** Says so when it can't: nobody is to wait for that. */
  async closeRoom(room: string | undefined, log: Logger): Promise<void> {
    if (room === undefined) return;
    // It closes by itself when everybody has left.
    await this.#options.rooms.close(room).catch((err: unknown) => log.warn({ err, room }, 'the room of a call could not be closed'));
  }
}
