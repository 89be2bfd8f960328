/**
 * A call with sound: registered like a web call, served by a voice process, joined by a user who speaks with the agent's own voice.
 *
 * A turn is over when the agent has listened for a moment. The agent's words and tool calls are read from the call's rows, which the voice
 * process writes for every call.
 */
import { awaitEnd } from '../../calls/await-end.ts';
import { accessTokenOf, TOKEN_TTL_MS } from '../../calls/access-token.ts';
import { callSettingsOf } from '../../calls/call-settings.ts';
import type { CallLifecycle } from '../../calls/lifecycle.ts';
import type { SpokenLine } from '../../calls/live-transcript.ts';
import type { MediaServer } from '../../calls/media-server.ts';
import { roomOf } from '../../calls/names.ts';
import type { Rooms } from '../../calls/rooms.ts';
import { OutgoingAudio } from '../../voice/caller/outgoing-audio.ts';
import { joinCall, type RoomCall } from '../../voice/caller/room-call.ts';
import { TurnTaking } from '../../voice/caller/turn-taking.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { unlessAborted } from '../../platform/aborted.ts';
import { sleep, withTimeout, type Clock } from '../../platform/clock.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import type { Logger } from '../../platform/logging.ts';
import { newCallId, type CallAgent, type CallRecord, type CallRef, type CallStore, type TestOfCall } from '../../store/index.ts';
import { DriverError, type AgentDriver, type AgentTurn } from '../driver.ts';
import { SpokenTurns } from './spoken-turns.ts';
import type { UserSpeech } from './user-speech.ts';

export interface AudioServices {
  readonly mediaServer: MediaServer;
  readonly rooms: Pick<Rooms, 'open' | 'close'>;
  readonly lifecycle: Pick<CallLifecycle, 'register' | 'end'>;
  readonly calls: Pick<CallStore, 'calls' | 'log'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface AudioCallOptions {
  readonly services: AudioServices;
  readonly org: string;
  readonly revision: string;
  readonly config: AgentRevisionConfig;
  /** Other agents that may take over. */
  readonly others?: readonly CallAgent[];
  readonly test: TestOfCall;
  readonly dynamicData: Readonly<Record<string, unknown>>;
  readonly speech: UserSpeech;
  readonly signal: AbortSignal;
}

/** Longest waits, in milliseconds. */
const AGENT_WITHIN_MS = 30_000;
const TURN_WITHIN_MS = 120_000;
const ANSWER_WITHIN_MS = 30_000;
const END_WITHIN_MS = 45_000;
const POLL_MS = 100;
/** Milliseconds between two keys. */
const KEY_MS = 200;
/** The keys at the indices that RFC 4733 gives them. */
const KEYS = '0123456789*#';

export class AudioCall implements AgentDriver {
  readonly #options: AudioCallOptions;
  readonly #audio = new OutgoingAudio();
  readonly #turns: TurnTaking;
  readonly #spoken: SpokenTurns;
  readonly #left = new AbortController();
  readonly #ref: CallRef;
  readonly #agent = Promise.withResolvers<true>();
  /** Settles when the call is registered and its room joined, or neither will be. */
  #entering: Promise<unknown> = Promise.resolve();
  #room: RoomCall | undefined;
  #registered = false;
  #closed: Promise<void> | undefined;

  constructor(options: AudioCallOptions) {
    this.#options = options;
    const { org, services } = options;
    this.#ref = { org, id: newCallId() };
    this.#turns = new TurnTaking(services.clock);
    this.#spoken = new SpokenTurns({ log: services.calls.log, call: this.#ref, clock: services.clock });
  }

  /** Id of the call, under which its recording is found once the call is registered. */
  get callId(): string {
    return this.#ref.id;
  }

  async start(): Promise<AgentTurn> {
    const { clock } = this.#options.services;
    const entering = this.#enter();
    this.#entering = entering.catch(() => undefined);
    const { audible } = await entering;
    const arrived = await withTimeout(clock, AGENT_WITHIN_MS, unlessAborted(this.#agent.promise, this.#signal));
    if (arrived === undefined && !this.#signal.aborted)
      throw new DriverError(
        `no voice process took the call within ${AGENT_WITHIN_MS / 1_000} s: does the role voice run, and has it room for calls?`,
      );
    return this.#turn(async () => {
      await audible.catch((cause: Error) => {
        throw new DriverError(cause.message, { cause });
      });
      await this.#turns.usersTurn(TURN_WITHIN_MS, this.#signal);
    });
  }

  async say(text: string): Promise<AgentTurn> {
    const sound = await this.#options.speech.of(text);
    return this.#turn(async () => {
      await unlessAborted(this.#audio.say(sound), this.#signal);
      await this.#answer();
    });
  }

  press(keys: string): Promise<AgentTurn> {
    const { clock } = this.#options.services;
    return this.#turn(async () => {
      // Without "#" the agent waits for more keys.
      for (const key of keys.endsWith('#') ? keys : `${keys}#`) {
        await this.#room?.press(KEYS.indexOf(key), key);
        await sleep(clock, KEY_MS, this.#signal).catch(() => undefined);
      }
      await this.#answer();
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close().catch((err: unknown) => {
      this.#options.services.logger.warn({ err, callId: this.#ref.id }, 'failed to end the call of a test');
    });
    return this.#closed;
  }

  get #signal(): AbortSignal {
    return AbortSignal.any([this.#left.signal, this.#options.signal]);
  }

  async #answer(): Promise<void> {
    await this.#turns.answering(ANSWER_WITHIN_MS, this.#signal);
    await this.#turns.usersTurn(TURN_WITHIN_MS, this.#signal);
  }

  async #enter(): Promise<RoomCall> {
    const { rooms } = this.#options.services;
    const call = await this.#register();
    this.#options.signal.throwIfAborted();
    await rooms.open(call.id).catch((cause: unknown) => {
      throw new DriverError('the media server does not answer', { cause });
    });
    this.#options.signal.throwIfAborted();
    const room = await this.#join(call, () => this.#agent.resolve(true));
    this.#room = room;
    void room.over.then(() => this.#left.abort());
    return room;
  }

  async #register(): Promise<CallRecord> {
    const { services, revision, config, others = [], test, dynamicData } = this.#options;
    const settings = callSettingsOf(config);
    const registration = await services.lifecycle.register({
      ...this.#ref,
      callType: 'web_call',
      agentName: config.name,
      agentDisplayName: settings.displayName,
      revision,
      others,
      maxDurationMs: settings.maxDurationMs,
      recordingEnabled: settings.recordingEnabled,
      recordingRetentionMs: settings.recordingRetentionMs,
      room: roomOf(this.#ref.id),
      tokenTtlMs: TOKEN_TTL_MS,
      metadata: { agent_test: test.testName, test_run_id: test.runId },
      dynamicData,
      test,
    });
    // No limit counts the calls of tests.
    if (registration.outcome !== 'registered') throw new DriverError('the call was not registered: the limit of live calls is reached');
    this.#registered = true;
    return registration.call;
  }

  async #join({ id }: CallRecord, onAgent: () => void): Promise<RoomCall> {
    const { mediaServer, clock } = this.#options.services;
    const now = clock.now();
    const token = await accessTokenOf(mediaServer, { callId: id, expiresAt: new Date(now + TOKEN_TTL_MS), now, keys: true });
    const events = {
      onAgent,
      onVoice: () => this.#turns.arrived(),
      onAgentState: (state: string) => this.#turns.reported(state),
      onWelcomed: () => this.#turns.welcomed(),
      onLine: (line: SpokenLine) => this.#spoken.heard(line),
      openSpeaker: () => undefined,
    };
    return joinCall({ id, url: mediaServer.url, token }, this.#audio, events, clock).catch((cause: unknown) => {
      throw new DriverError(errorMessageOf(cause), { cause });
    });
  }

  async #turn(act: () => Promise<void>): Promise<AgentTurn> {
    await act();
    this.#options.signal.throwIfAborted();
    let ended = this.#left.signal.aborted ? await this.#awaitEnd() : undefined;
    let turn = await this.#spoken.take({ complete: ended !== undefined });
    // An agent that hangs up does so after its last words: the end belongs to the turn, however late it comes.
    if (ended === undefined && (this.#left.signal.aborted || turn.toolCalls.some(({ name }) => name === 'end_call'))) {
      ended = await this.#awaitEnd();
      const rest = await this.#spoken.take({ complete: true });
      turn = { ...rest, ...turn, messages: [...turn.messages, ...rest.messages], toolCalls: [...turn.toolCalls, ...rest.toolCalls] };
    }
    if (ended === undefined) {
      if (this.#left.signal.aborted) throw new DriverError('the call is over, but its end was not recorded');
      return turn;
    }
    const { status, finishReason } = ended;
    return {
      ...turn,
      ...(finishReason !== null && { ended: finishReason }),
      ...(status === 'error' && { failure: `the call ${ended.id} ended as ${finishReason}: its log lines in the role voice say why` }),
    };
  }

  #awaitEnd(): Promise<CallRecord | undefined> {
    const { calls, clock } = this.#options.services;
    return awaitEnd(calls.calls, this.#ref, { everyMs: POLL_MS, withinMs: END_WITHIN_MS, clock });
  }

  async #close(): Promise<void> {
    // A call that is still being registered would go on without a user.
    await this.#entering;
    await this.#audio.close();
    await this.#room?.hangUp();
    if (!this.#registered) return;
    const { rooms, lifecycle } = this.#options.services;
    if (this.#room !== undefined && (await this.#awaitEnd()) !== undefined) return;
    await lifecycle.end({ ...this.#ref, reason: 'user_ended_call' });
    await rooms.close(roomOf(this.#ref.id));
  }
}
