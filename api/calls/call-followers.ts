/** Follows calls for clients: rows of their logs as they are stored, and what their jobs pass on, as Server-Sent Events. */
import type { Rooms } from '../../calls/rooms.ts';
import { durationOf } from '../../calls/lifecycle.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isTerminal, type CallRecord, type CallStore, type LiveEvent, type LoggedRow } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';
import { messageToRest, toolCallToRest, turnToRest } from './codec.ts';
import type { CallEvent } from './event-answers.ts';
import type { EventStream } from './event-stream.ts';

/** Time between two looks at what is stored where no notification comes, in milliseconds. */
const LOOK_MS = 2_000;
/** Time between two messages to the job that somebody follows its call, in milliseconds: a third of what one is good for. */
const WATCH_EVERY_MS = 10_000;
const HEARTBEAT_MS = 15_000;
/** Most rows that are read at once. */
const PAGE_SIZE = 200;
/** Most streams of one organisation in one process. */
export const MOST_STREAMS = 100;

export interface CallEventsOptions {
  readonly store: Pick<CallStore, 'calls' | 'log' | 'events'>;
  /** Absent without a media server. */
  readonly rooms: Pick<Rooms, 'watch'> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A client that follows a call. */
export interface Follower {
  readonly call: CallRecord;
  readonly stream: EventStream;
  /** Position of the last row that the client has. */
  readonly after: number;
  /** Returns why the client may not go on; undefined where it may. Asked again and again. */
  readonly refusal: () => Promise<string | undefined>;
}

interface Following extends Follower {
  /** Wakes the loop that looks at what is stored. */
  wake: () => void;
}

export class CallFollowers {
  readonly #options: CallEventsOptions;
  readonly #following = new Map<string, Set<Following>>();
  /** Calls whose jobs are told. */
  readonly #watched = new Set<string>();
  #listening: { stop(): Promise<void> } | undefined;
  #closed = false;

  constructor(options: CallEventsOptions) {
    this.#options = options;
  }

  /** @throws ApiError `rate_limited` where the organisation has as many streams as it may have */
  admit(org: string): void {
    let streams = 0;
    for (const followers of this.#following.values()) for (const { call } of followers) if (call.org === org) streams += 1;
    if (streams >= MOST_STREAMS)
      throw new ApiError(
        'rate_limited',
        `your organisation follows ${MOST_STREAMS} calls at this server: end one of these requests first`,
        {
          retryAfterSeconds: 5,
        },
      );
    if (this.#closed) throw new ApiError('unavailable', 'this server is stopping: ask again', { retryAfterSeconds: 1 });
  }

  /** Sends the events of a call until it is over, the client leaves, or can't go on. Never throws. */
  async follow(follower: Follower): Promise<void> {
    const { call, stream } = follower;
    const following: Following = { ...follower, wake: () => undefined };
    const others = this.#following.get(call.id) ?? new Set<Following>();
    this.#following.set(call.id, others.add(following));
    this.#listen();
    void this.#heartbeats(following);
    void this.#watch(call);
    try {
      await this.#send(following);
    } catch (err) {
      this.#options.logger.error({ err, callId: call.id }, 'failed to follow a call; ending the stream');
      stream.close('failed', 'something went wrong on our side: ask again with Last-Event-ID');
    } finally {
      others.delete(following);
      if (others.size === 0) this.#following.delete(call.id);
    }
  }

  /** Ends all streams; clients go on at another server. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const followers of this.#following.values())
      for (const { stream } of followers) stream.close('server_stopping', 'this server is stopping: ask again with Last-Event-ID');
    await this.#listening?.stop();
  }

  /** Listens from the first follower on, for as long as the server runs. */
  #listen(): void {
    const { store, clock, logger } = this.#options;
    this.#listening ??= store.events.listen({
      clock,
      logger,
      onEvents: (callId, events) => {
        for (const following of this.#following.get(callId) ?? []) this.#passOn(following, events);
      },
      onListening: () => {
        for (const followers of this.#following.values()) for (const following of followers) following.wake();
      },
    });
  }

  #passOn(following: Following, events: readonly LiveEvent[]): void {
    for (const event of events)
      if (event.type === 'stored') following.wake();
      else following.stream.send(liveToRest(event));
  }

  async #send(following: Following): Promise<void> {
    const { call, stream } = following;
    const { store, clock, logger } = this.#options;
    let { after } = following;
    let status: CallRecord['status'] | undefined;
    while (!stream.signal.aborted) {
      const woken = new AbortController();
      following.wake = () => woken.abort();
      try {
        // The record is read first: a call that is over has all its rows.
        const now = await store.calls.get(call);
        if (now === undefined) return stream.close('call_deleted', 'the call was deleted');
        if (now.status !== status && !isTerminal(now.status)) {
          if (status !== undefined) void this.#tell(now);
          stream.send({ event: 'call', data: { call_status: now.status } });
        }
        status = now.status;
        const rows = await store.log.after(call, after, PAGE_SIZE);
        for (const row of rows) stream.send(rowToRest(row, call));
        after = rows.at(-1)?.position ?? after;
        if (rows.length === PAGE_SIZE) continue;
        if (isTerminal(status)) return stream.end(endToRest(now, after));
      } catch (err) {
        logger.debug({ err, callId: call.id }, 'failed to read what is stored of a call that is followed; reading it again');
      }
      await sleep(clock, LOOK_MS, AbortSignal.any([woken.signal, stream.signal])).catch(() => undefined);
    }
  }

  async #heartbeats({ stream, refusal }: Following): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await sleep(clock, HEARTBEAT_MS, stream.signal).catch(() => undefined);
      if (stream.signal.aborted) return;
      stream.beat();
      // While Postgres is away a key counts as before.
      const refused = await refusal().catch(() => undefined);
      if (refused !== undefined) stream.close('key_refused', refused);
    }
  }

  /** Tells the job now, and as long as somebody follows its call. */
  async #watch(call: CallRecord): Promise<void> {
    await this.#tell(call);
    if (this.#watched.has(call.id)) return;
    this.#watched.add(call.id);
    for (;;) {
      await sleep(this.#options.clock, WATCH_EVERY_MS);
      if (!this.#following.has(call.id) || this.#closed) break;
      await this.#tell(call);
    }
    this.#watched.delete(call.id);
  }

  async #tell({ room, id }: CallRecord): Promise<void> {
    const { rooms, logger } = this.#options;
    await rooms
      ?.watch(room)
      .catch((err: unknown) => logger.debug({ err, callId: id }, 'failed to tell the job that its call is followed; telling it again'));
  }
}

function rowToRest(row: LoggedRow, call: CallRecord): CallEvent {
  const id = String(row.position);
  if (row.kind === 'message') return { event: 'message', id, data: messageToRest(row.message, call) };
  if (row.kind === 'turn') return { event: 'turn', id, data: turnToRest(row.turn, row.spokenAt, call) };
  return { event: 'tool_call', id, data: toolCallToRest(row.toolCall, call) };
}

function liveToRest(event: Exclude<LiveEvent, { readonly type: 'stored' }>): CallEvent {
  if (event.type === 'words') {
    const { id, role, text, final } = event;
    return { event: 'words', data: { line: id, role, text, final } };
  }
  if (event.type === 'tool_started')
    return { event: 'tool_started', data: { name: event.name, timestamp: new Date(event.at).toISOString() } };
  const { agent, muted, held, takenOver } = event;
  return { event: 'state', data: { agent, muted, held, taken_over: takenOver } };
}

function endToRest(call: CallRecord, after: number): CallEvent {
  const data = {
    call_status: call.status,
    call_finish_reason: call.finishReason ?? 'unknown_error',
    call_duration_seconds: (durationOf(call) ?? 0) / 1_000,
  };
  return { event: 'end', id: `${after}-end`, data };
}
