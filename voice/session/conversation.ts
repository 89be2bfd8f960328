/** A conversation: LiveKit's session with what this project adds to it. */
import { voice, type llm } from '@livekit/agents';
import type { Room } from '@livekit/rtc-node';

import type { Clock, Timer } from '../../platform/clock.ts';
import { parseJson } from '../../platform/json.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Span, SpanStart } from '../../platform/telemetry/tracing.ts';
import type { FinishReason } from '../../store/index.ts';
import { Ambience } from '../ambience/ambience.ts';
import { AGENT_HEARD_WITHIN_MS } from '../calls/microphone.ts';
import { WELCOMED_ATTRIBUTE } from '../calls/names.ts';
import { finishReasonOfProviderFailure } from '../finish-reason.ts';
import { EndOfTurnDetector, joinRoom, MeasuredVad, resumeAnswer, speakToNobody, waitForWords } from '../livekit-patches/index.ts';
import { providerFailureOf, type ProviderError, type ProviderPart, type Providers } from '../providers/index.ts';
import { errorTypeOf } from '../calls/provider-access/index.ts';
import type { AgentTurns } from '../conversation/agent-turns.ts';
import type { TextNormalizer } from '../text-normalization/index.ts';
import type { FinishedCall } from '../tools/run-call.ts';
import type { Arguments } from '../tools/tool-result.ts';
import type { KnowledgeSource, ToolHost, TransferOutcome, TransferTarget } from '../tools/tool-host.ts';
import { isBackchannel } from '../conversation/backchannels.ts';
import { CallAgent } from './call-agent.ts';
import { apologyIn } from '../conversation/fixed-phrases.ts';
import { HeardSpeech } from './heard-speech.ts';
import { countsAsInterruption } from '../conversation/interruption-rules.ts';
import type { LogWriter } from './log-writer.ts';
import { playTones } from './tones.ts';
import { SessionLlm, type SessionLlmOptions } from './session-llm.ts';
import { SessionStt } from './session-stt.ts';
import { SessionTts } from './session-tts.ts';
import type { ConversationSettings } from './settings.ts';
import { SilenceTimer } from './silence-timer.ts';
import { SpeechClock } from './speech-clock.ts';
import { SpeechQueue } from './speech-queue.ts';
import { Statistics, type ConversationFigures } from './statistics.ts';
import { Transcript } from './transcript.ts';

/** Longest time that a goodbye may take, in milliseconds: then it is cut off. */
const MAX_GOODBYE_MS = 20_000;
/** What is said before a transfer delays it by no more than this, in milliseconds. */
const MAX_ANNOUNCEMENT_MS = 10_000;

/** How a call is heard. */
export interface ConversationSound {
  readonly room: Room;
  /** The participant that the agent listens to. */
  readonly userIdentity: string;
  readonly recorded: boolean;
  readonly stt: Providers['stt'];
  readonly tts: Providers['tts'];
}

export interface ConversationOptions {
  readonly sound: ConversationSound;
  readonly llm: SessionLlmOptions['inner'];
  readonly language: string;
  /** Puts what is written into words. */
  readonly normalizer: TextNormalizer;
  readonly settings: ConversationSettings;
  readonly instructions: string;
  /** Absent where the agent waits for the user. */
  readonly welcome: string | undefined;
  /** Said once in a silence, before it ends the call. */
  readonly silenceReminder: string | undefined;
  /** What the model may call. */
  readonly tools: (host: Conversation) => ConstructorParameters<typeof CallAgent>[0]['tools'];
  readonly transfer: (target: TransferTarget) => Promise<TransferOutcome>;
  readonly log: Pick<LogWriter, 'add'>;
  readonly turns: AgentTurns;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The call has to end. `farewell` is said to the caller first.
   * May be called more than once; the first reason counts.
   */
  readonly onEnd: (reason: FinishReason, farewell?: () => Promise<void>) => void;
  /** The provider's failure that ends the call. */
  readonly onFailure?: (failure: ProviderError) => void;
}

const events = voice.AgentSessionEventTypes;

export class Conversation implements ToolHost {
  readonly #options: ConversationOptions;
  readonly #session: voice.AgentSession;
  readonly #silence: SilenceTimer;
  readonly #transcript: Transcript;
  readonly #speech: SpeechClock;
  readonly #statistics = new Statistics();
  readonly #spoken: SpeechQueue;
  readonly #heard = new HeardSpeech();
  readonly #ambience: Ambience | undefined;
  #timers: readonly Timer[] = [];
  #begun = false;
  /** A tool has said what came of it since the user's last words. */
  #answeredByTool = false;
  #closed: Promise<void> | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { settings, sound, llm, clock, silenceReminder, onEnd } = options;
    this.#transcript = new Transcript(clock.now());
    this.#ambience = settings.ambient && new Ambience(settings.ambient);
    this.#speech = new SpeechClock(settings.vad);
    this.#silence = new SilenceTimer({
      clock,
      afterMs: settings.endAfterSilenceMs,
      remind: silenceReminder === undefined ? undefined : () => this.#spoken.announce(silenceReminder),
      onSilence: () => onEnd('inactivity_timeout'),
    });
    const hearing = this.#hearing(sound);
    this.#session = new voice.AgentSession({
      ...settings.session,
      llm: new SessionLlm({ inner: llm, mayBeEmpty: () => this.#answeredByTool }),
      ...hearing,
    });
    waitForWords(this.#session, hearing);
    this.#spoken = new SpeechQueue({ session: this.#session, clock });
    this.#listen();
  }

  /** What the session hears and speaks with. */
  #hearing(sound: ConversationSound): voice.AgentSessionOptions & { readonly stt: SessionStt; readonly vad: MeasuredVad } {
    const { settings, language, normalizer, clock, logger } = this.#options;
    const { session, endOfTurn } = settings;
    const stt = new SessionStt({ inner: sound.stt, language, onFailure: (error) => this.#failed(error, 'stt') });
    const vad = new MeasuredVad({
      ...settings.vad,
      onSpeaking: () => {
        this.#speech.userSpeaks();
        stt.userSpeaks(vad.unreadMs);
      },
      onPause: (ms) => {
        this.#speech.userPauses(ms);
        stt.userPaused();
      },
    });
    return {
      ...(endOfTurn && {
        turnHandling: { ...session.turnHandling, turnDetection: new EndOfTurnDetector({ delays: endOfTurn, language, clock, logger }) },
      }),
      vad,
      stt,
      tts: new SessionTts({ inner: sound.tts, normalizer, clock }),
    };
  }

  /** Prepares everything; nothing is said before {@link begin}. */
  async start(): Promise<void> {
    const { sound, instructions, tools } = this.#options;
    const agent = new CallAgent({
      instructions,
      tools: tools(this),
      heeds: (text, final) => this.#heeds(text, final),
      onDropped: () => resumeAnswer(this.#session),
      synthesize: () => this.#heard.synthesize(),
      interrupted: () => this.#spoken.interrupted(),
    });
    this.#session.updateAgent(agent);
    joinRoom(this.#session, sound.room, sound.userIdentity);
    await this.#session.start({
      agent,
      // Sound stays here; the rest would go to LiveKit's cloud.
      record: { audio: sound.recorded, traces: false, logs: false, transcript: false },
    });
    this.#session.output.audio?.on(voice.AudioOutput.EVENT_PLAYBACK_FINISHED, (event: voice.PlaybackFinishedEvent) => {
      this.#heard.played(event);
    });
  }

  /** The call has begun: the welcome message, and the timers. */
  begin(): void {
    if (this.#begun || this.#closed !== undefined) return;
    this.#begun = true;
    const { settings, clock, welcome, onEnd, sound, logger } = this.#options;
    this.#timers = [clock.after(settings.maxDurationMs, () => onEnd('maximum_duration_exceeded'))];
    void this.#welcome(welcome);
    this.#timers = [...this.#timers, clock.after(AGENT_HEARD_WITHIN_MS, () => speakToNobody(this.#session))];
    this.#silence.start();
    this.#ambience?.start(sound.room).catch((err: unknown) => logger.warn({ err }, 'failed to play the ambient sound'));
  }

  async #welcome(text: string | undefined): Promise<void> {
    const { sound, logger } = this.#options;
    try {
      // Until it is heard the user waits for it, however long the voice takes to begin.
      if (text !== undefined) await this.#session.say(text).waitForPlayout().finally(this.#silence.hold());
      await sound.room.localParticipant?.setAttributes({ [WELCOMED_ATTRIBUTE]: 'true' });
    } catch (err) {
      if (this.#closed === undefined) logger.warn({ err }, 'failed to show that the welcome message is over');
    }
  }

  /** The user is there, without a word. */
  keyPressed(): void {
    this.#silence.heard();
  }

  /** What the user pressed on the keypad is a turn, like words. On hold neither is heard. */
  async pressed(keys: string): Promise<void> {
    if (!this.#begun || !this.#session.input.audioEnabled) return;
    if (this.#options.settings.interruptions.enabled) this.#spoken.interrupt();
    await this.#spoken.interrupted();
    this.written(`[pressed ${keys}]`);
  }

  /** What the user writes is a turn, like words. */
  written(text: string): void {
    if (!this.#begun || this.#closed !== undefined) return;
    this.#options.turns.heard();
    this.#session.generateReply({ userInput: text });
  }

  /** For voicemail detection and transfers. */
  get session(): voice.AgentSession {
    return this.#session;
  }

  // -- for tools

  say(text: string, { answers = false } = {}): void {
    if (this.#closed !== undefined) return;
    this.#answeredByTool ||= answers;
    void this.#spoken.announce(text);
  }

  end(): void {
    this.#options.onEnd('agent_ended_call', () => this.#spoken.all({ withinMs: MAX_GOODBYE_MS }));
  }

  /** First the caller hears what is being said: a tool's own message, and the answer that asks for the transfer. */
  async transfer(target: TransferTarget): Promise<TransferOutcome> {
    await this.#spoken.announced({ withinMs: MAX_ANNOUNCEMENT_MS });
    return this.#options.transfer(target);
  }

  pauseSilence(): () => void {
    return this.#silence.hold();
  }

  recordSources(sources: readonly KnowledgeSource[]): void {
    this.#transcript.addSources(sources, this.#options.clock.now());
  }

  startSpan(start: SpanStart): Span {
    return this.#options.turns.startSpan(start);
  }

  recordToolCall(call: FinishedCall['record']): void {
    this.#write(this.#transcript.addToolCall(call));
  }

  // -- the end

  /** Nothing is said or heard from now on. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  figures(): ConversationFigures {
    return this.#statistics.figures();
  }

  async #close(): Promise<void> {
    this.#silence.stop();
    for (const timer of this.#timers) timer.cancel();
    await this.#ambience?.close().catch(() => undefined);
    await this.#session.close();
    this.#write(this.#transcript.close());
    this.#options.turns.close();
  }

  #listen(): void {
    const session = this.#session;
    session.on(events.UserStateChanged, ({ newState }) => {
      const speaks = newState === 'speaking';
      if (speaks) this.#answeredByTool = false;
      const now = this.#options.clock.now();
      if (speaks) this.#speech.userBegins(now);
      else this.#speech.userEnds(now);
      this.#silence.userSpeaks(speaks, this.#speech.silentForMs(now));
    });
    session.on(events.AgentStateChanged, ({ newState }) => {
      const now = this.#options.clock.now();
      this.#speech.agentSpeaks(newState === 'speaking', now);
      if (newState === 'speaking') this.#transcript.agentSpeaks(now);
      this.#silence.agentIsBusy(newState === 'speaking' || newState === 'thinking');
    });
    session.on(events.UserInputTranscribed, ({ transcript }) => {
      if (transcript.trim() !== '') this.#silence.heard();
    });
    session.on(events.ConversationItemAdded, ({ item }) => {
      if (item.type === 'message') this.#said(item);
    });
    session.on(events.FunctionToolsExecuted, ({ functionCalls, functionCallOutputs }) => {
      for (const call of functionCalls) this.#recordUnknown(call, functionCallOutputs);
    });
    session.on(events.MetricsCollected, ({ metrics }) => this.#statistics.measured(metrics));
    session.on(events.Error, ({ error }) => {
      const part = error.type === 'llm_error' ? 'llm' : error.type === 'tts_error' ? 'tts' : undefined;
      if (part !== undefined && 'error' in error && !error.recoverable) this.#failed(error.error, part);
    });
    session.on(events.Close, ({ reason, error }) => {
      if (this.#closed !== undefined) return;
      this.#options.logger.error({ reason, err: error }, 'the session closed unexpectedly');
      this.#options.onEnd('native_platform_internal_error');
    });
  }

  /** The others are recorded where they run. */
  #recordUnknown({ name, args, callId }: llm.FunctionCall, outputs: readonly llm.FunctionCallOutput[]): void {
    if (this.#session.currentAgent.toolCtx.getFunctionTool(name) !== undefined) return;
    const error = outputs.find((output) => output?.callId === callId)?.output;
    this.#options.logger.info({ tool: name }, "a tool wasn't run: the agent has no such tool");
    this.recordToolCall({
      name,
      arguments: parseJson(args) as Arguments,
      result: JSON.stringify({ error }),
      failed: true,
      beganAt: new Date(this.#options.clock.now()),
      durationMs: 0,
    });
  }

  #heeds(text: string, final: boolean): boolean {
    const { settings, language } = this.#options;
    if (this.#speech.beganOverAgent && this.#spoken.goesOn && isBackchannel(text, language)) return false;
    const over = this.#speech.spokenOverAgentMs(this.#options.clock.now());
    // While the user speaks LiveKit looks at the length: all words may come before it is reached, and not be said again.
    return over === undefined || countsAsInterruption({ text, speechMs: final ? over : Infinity }, settings.interruptions);
  }

  #said(item: llm.ChatMessage): void {
    if (item.role === 'user') this.#answeredByTool = false;
    if (item.role === 'assistant') this.#heard.keepIn(item);
    // Words that are understood after the end have the time of that, and none of the speech.
    const saidAt = item.role === 'user' && this.#closed !== undefined ? this.#speech.userFrom : undefined;
    this.#write(
      this.#transcript.add({
        role: item.role,
        text: item.textContent ?? '',
        interrupted: item.interrupted,
        createdAt: saidAt ?? item.createdAt,
        metrics: item.metrics,
      }),
    );
  }

  #write(entries: ReturnType<Transcript['add']>): void {
    this.#statistics.written(entries);
    this.#options.turns.written(entries);
    this.#options.log.add(entries);
  }

  #failed(error: unknown, part: ProviderPart): void {
    if (this.#closed !== undefined) return;
    const failure: ProviderError = providerFailureOf(error, part);
    const reason = finishReasonOfProviderFailure(failure, { answeredBefore: this.#statistics.modelAnswered });
    const { provider, kind, status } = failure;
    this.#statistics.failed(failure);
    this.#options.turns.failed(errorTypeOf(failure));
    this.#options.logger.error({ part, provider, kind, status, reason, err: failure }, 'a provider has failed');
    this.#options.onFailure?.(failure);
    this.#options.onEnd(reason, () => this.#apologise(part));
  }

  /** Apologises with what still works, so that the caller does not wait for an answer. */
  async #apologise(broken: ProviderPart): Promise<void> {
    const { sound } = this.#options;
    if (broken === 'tts') {
      await playTones(sound.room);
      return;
    }
    await this.#spoken.all({ withinMs: MAX_GOODBYE_MS });
    this.#session.say(apologyIn(this.#options.language), { allowInterruptions: false });
    await this.#spoken.all({ withinMs: MAX_GOODBYE_MS });
  }
}
