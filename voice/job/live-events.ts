/** Tells those who follow a call what happens in it beyond what is stored: words as they come, states, tools that begin. */
import { RoomEvent, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import type { SpokenLine } from '../../calls/live-transcript.ts';
import { WATCH_MS, WATCH_TOPIC } from '../../calls/names.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { LiveEvent } from '../../store/index.ts';
import { agentStateOf, type ConversationState } from '../conversation/state.ts';

/** Time for which events are gathered, in milliseconds: words come every few milliseconds, and only the last version of a line counts. */
const GATHER_MS = 100;
/** Most events that wait; more than any conversation has in that time. */
const MOST_WAITING = 200;

type StateEvent = Extract<LiveEvent, { readonly type: 'state' }>;

export interface LiveEventsOptions {
  readonly room: Room;
  readonly publish: (events: readonly LiveEvent[]) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Publishes nothing unless somebody follows the call: the API says so again and again by a message in the room. */
export class LiveEvents {
  readonly #options: LiveEventsOptions;
  #watchedUntil = -Infinity;
  #withholdsWords = false;
  #state: StateEvent = { type: 'state', agent: 'listening', muted: false, held: false, takenOver: false };
  #tools: ReadonlySet<string> = new Set();
  #waiting: LiveEvent[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: LiveEventsOptions) {
    this.#options = options;
    options.room.on(RoomEvent.DataReceived, this.#onData);
  }

  /** Takes the state of the conversation after each event. */
  conversation(state: ConversationState): void {
    const running = new Set(state.tools.map(({ callId }) => callId));
    const { clock } = this.#options;
    for (const item of state.history)
      if (item.type === 'call' && running.has(item.callId) && !this.#tools.has(item.callId))
        this.#happened({ type: 'tool_started', name: item.name, at: clock.now() });
    this.#tools = running;
    this.changed({ agent: agentStateOf(state), muted: state.muted });
  }

  /** Takes what has changed of the call's state. */
  changed(part: Partial<Omit<StateEvent, 'type'>>): void {
    const before = this.#state;
    const state = { ...before, ...part };
    this.#state = state;
    const differs = (['agent', 'muted', 'held', 'takenOver'] as const).some((name) => state[name] !== before[name]);
    if (differs) this.#happened(state);
  }

  /** Passes no words on from now on: they would come before personal data is taken out of them. Messages follow once they are stored. */
  withholdWords(): void {
    this.#withholdsWords = true;
  }

  /** Takes a line as far as it is known. */
  words(line: SpokenLine): void {
    if (this.#withholdsWords || !this.#isWatched) return;
    // Of a line that grows only the last version is passed on.
    this.#waiting = this.#waiting.filter((event) => event.type !== 'words' || event.id !== line.id);
    this.#happened({ type: 'words', ...line });
  }

  /** The log of the call has new rows. */
  stored(): void {
    this.#happened({ type: 'stored' });
  }

  /** Resolves when what has happened is passed on. */
  async close(): Promise<void> {
    this.#options.room.off(RoomEvent.DataReceived, this.#onData);
    this.#flush();
    await this.#sending;
  }

  readonly #onData = (_payload: Uint8Array, sender: RemoteParticipant | undefined, _kind: unknown, topic?: string): void => {
    // Only the API, which is no participant, may send this.
    if (sender !== undefined || topic !== WATCH_TOPIC) return;
    this.#watchedUntil = this.#options.clock.monotonic() + WATCH_MS;
    // Whoever comes gets the state as it is.
    this.#happened(this.#state);
  };

  get #isWatched(): boolean {
    return this.#options.clock.monotonic() < this.#watchedUntil;
  }

  #happened(event: LiveEvent): void {
    if (!this.#isWatched || this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(event);
    this.#timer ??= this.#options.clock.after(GATHER_MS, () => this.#flush());
  }

  #flush(): void {
    const { publish, logger } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    const events = this.#waiting;
    this.#waiting = [];
    if (events.length === 0) return;
    this.#sending = this.#sending
      .then(() => publish(events))
      .catch((err: unknown) => logger.debug({ err }, 'failed to pass on what happens in the call; who follows it gets what is stored'));
  }
}
