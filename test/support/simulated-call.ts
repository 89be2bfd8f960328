/**
 * Simulates a call in virtual time, for examples: the conversation, the ears and the voice of real calls, and the code of real providers,
 * as far as it is not about servers. Scripted are the sound, whose samples say what is in it, the language model, and the time.
 */
import { AgentTurns } from '../../voice/conversation/agent-turns.ts';
import { Conversation } from '../../voice/conversation/conversation.ts';
import { interruptionRulesOf } from '../../voice/conversation/interruption-rules.ts';
import type { AnswerSource } from '../../voice/conversation/ports.ts';
import { instructionsOf, silenceOf, welcomeOf } from '../../voice/conversation/prompt.ts';
import type { Entry } from '../../voice/conversation/entry.ts';
import type { ConversationState } from '../../voice/conversation/state.ts';
import type { AnswerEvent } from '../../voice/providers/index.ts';
import type { AnswerRequest, HistoryItem } from '../../voice/providers/llm/history.ts';
import { CallSound } from '../../voice/sound/call-sound.ts';
import { EAR_SAMPLE_RATE } from '../../voice/sound/ears.ts';
import { joinSamples } from '../../voice/sound/join-samples.ts';
import type { TurnModel } from '../../voice/sound/turn-detector.ts';
import { WINDOW_MS } from '../../voice/sound/voice-activity.ts';
import type { ToolHost } from '../../voice/tools/tool-host.ts';
import type { ToolDefinition } from '../../voice/tools/tool-result.ts';
import { agentKind } from '../../crds/agent.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { sleep } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logging.ts';
import type { CallMessage, CallToolCall, CallTurn, FinishReason } from '../../store/index.ts';
import { FakeClock } from './fake-clock.ts';
import { ScriptedRecognizer, type RecognizerScript } from './scripted-recognizer.ts';
import { ScriptedVoice, type HeardSentence, type VoiceScript } from './scripted-voice.ts';
import { SimulatedRealtime, type RealtimeScript } from './simulated-realtime.ts';
import { synthesizerOf } from './speech-synthesis.ts';
import { WordSound } from './word-sound.ts';

/** An answer of the model, word by word. */
export interface AnswerScript {
  readonly text?: string;
  /** Names of tools, or names with their arguments as JSON. */
  readonly calls?: readonly (string | { readonly name: string; readonly args: string; readonly complete?: boolean })[];
  /** Milliseconds to the first word; default 300. */
  readonly delayMs?: number;
  /** Milliseconds for each word; default 20. */
  readonly msPerWord?: number;
}

export interface AskedModel extends AnswerRequest {
  /** History in the form `user: Hello`, `call: find`, `result: find "it"`. */
  readonly asked: readonly string[];
  /** The user's last words. */
  readonly lastUser: string;
  /** Time of the request, in milliseconds since the call began. */
  readonly at: number;
}

export interface SimulatedCallOptions {
  /** Spec of the agent, as in a resource. */
  readonly agent?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly recognizer?: RecognizerScript;
  readonly voice?: VoiceScript;
  /** Answers of the model; default: `I heard: …`. */
  readonly model?: (request: AskedModel) => string | AnswerScript;
  readonly tools?: readonly ToolDefinition[];
  /** A realtime model, before the recogniser. It answers in place of `model`. */
  readonly realtime?: RealtimeScript;
  /** Returns how sure the end-of-turn detector is, 0 to 1, that the last words end a turn; default 1. */
  readonly turnIsOver?: (words: string) => number;
}

/** A part of what the user says: words, or a pause in milliseconds. */
type Utterance = string | number;

const MS_PER_WORD = 300;
const WINDOW_SAMPLES = (WINDOW_MS * EAR_SAMPLE_RATE) / 1_000;

/** Shows the history in the form `user: Hello`, `call: find`, `result: find "it"`. */
const shown = (history: readonly HistoryItem[]): readonly string[] =>
  history.map((item) => {
    if (item.type === 'message') return `${item.role}: ${item.text}`;
    return item.type === 'call' ? `call: ${item.name}` : `result: ${item.name} ${item.output}`;
  });

export class SimulatedCall {
  readonly clock = new FakeClock();
  /** Requests to the model, each when it was asked. */
  readonly requests: AskedModel[] = [];
  readonly conversation: Conversation;
  readonly realtime: SimulatedRealtime | undefined;
  readonly #options: SimulatedCallOptions;
  readonly #logger = createLogger({ role: 'test', level: 'silent' });
  readonly #sound = new WordSound(EAR_SAMPLE_RATE);
  readonly #recognizer: ScriptedRecognizer;
  readonly #voiceOf: ScriptedVoice;
  readonly #entries: Entry[] = [];
  /** Sound that the microphone will hear. */
  #said: Int16Array = new Int16Array(0);
  /** Time up to which the microphone has heard, in milliseconds. */
  #listenedMs = 0;
  #muted = false;
  readonly #call: CallSound;
  #state: ConversationState | undefined;
  #ended: { readonly reason: FinishReason; readonly at: number } | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: SimulatedCallOptions = {}) {
    this.#options = options;
    const { clock } = this;
    const { data = {}, tools = [], recognizer = { by: 'requests' }, voice = () => ({}) } = options;
    this.#recognizer = new ScriptedRecognizer(recognizer, { sound: this.#sound, clock });
    this.#voiceOf = new ScriptedVoice(voice, clock);
    this.realtime =
      options.realtime && new SimulatedRealtime(options.realtime, { sound: this.#sound, clock, ears: this.#recognizer.provider });
    const config = configOf(options.agent);
    const { agent } = config;
    this.#call = new CallSound({
      agent,
      recognizer: this.realtime?.recognizer ?? this.#recognizer.recognizer,
      synthesizer: synthesizerOf([{ provider: 'openai', source: this.#voiceOf.source }], { clock }),
      sink: this.#voiceOf.sink,
      vad: { predict: async (window) => window.filter((sample) => sample !== 0).length / window.length },
      turnModel: this.#turnModel(),
      clock,
      logger: this.#logger,
    });
    this.conversation = new Conversation({
      model: this.realtime?.model ?? this.#model(),
      voice: this.#call.createVoice,
      ears: this.#call.createEars,
      turnEndMs: this.#call.settings.turnEndMs,
      silence: silenceOf(config, data),
      agent: config.name,
      language: agent.language,
      instructions: instructionsOf({ config, data, contexts: [], now: clock.now() }),
      welcome: welcomeOf(config, data),
      interruptions: interruptionRulesOf(agent),
      maxDurationMs: millisecondsOf(agent.call.maxDuration),
      tools: (host) => [...tools, endCall(host)],
      data,
      transfer: async () => ({ outcome: 'done' }),
      log: { add: (entries) => void this.#entries.push(...entries) },
      onChange: (state) => void (this.#state = state),
      turns: new AgentTurns({
        agent: { name: 'desk', knowledgeBase: null },
        llm: { provider: 'openai', model: 'm' },
        now: () => clock.now(),
      }),
      clock,
      logger: this.#logger,
      onEnd: (reason, farewell) => this.#end(reason, farewell),
    });
    this.#listen();
    this.#call.open();
    this.conversation.listen();
    this.conversation.begin();
  }

  // -- the user

  /** Begins to say this, after what is being said. @returns when it is said, in milliseconds since the call began */
  speaks(...utterances: readonly Utterance[]): number {
    return this.#sounds(
      ...utterances.map((part) => (typeof part === 'number' ? this.#sound.silence(part) : this.#sound.says(part, MS_PER_WORD))),
    );
  }

  /** Says this, and returns when it is said. */
  async says(...utterances: readonly Utterance[]): Promise<void> {
    await this.pass(this.speaks(...utterances) - this.now);
  }

  /** Makes a sound that is no word. @returns when it is over */
  coughs(ms: number): number {
    return this.#sounds(this.#sound.noise(ms));
  }

  /** Silences the microphone from now on. */
  mute(): void {
    this.#muted = true;
    this.#call.ears?.hearNothing();
  }

  /** Leaves the call. */
  async hangsUp(): Promise<void> {
    this.#end('user_ended_call', undefined);
    await this.pass(10_000);
  }

  // -- time

  /** Milliseconds since the call began. */
  get now(): number {
    return this.clock.monotonic();
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** @throws Error when the condition does not hold within two minutes */
  async until(condition: () => boolean): Promise<void> {
    await this.clock.advanceUntil(condition, { stepMs: 20, limitMs: 120_000 });
  }

  /** Holds the process still: what the user says meanwhile comes at once, and later than the timers. */
  async standStill(ms: number): Promise<void> {
    this.clock.stall(ms);
    this.clock.tick(0);
    await this.pass(0);
  }

  /** Breaks the connection of the recognizer. */
  breakConnection(): void {
    this.#recognizer.break();
  }

  // -- what came of it

  /** Sentences, as far as they were heard. */
  get heard(): readonly HeardSentence[] {
    return this.#voiceOf.heard;
  }

  /** All that was heard until now. */
  get heardText(): string {
    return this.heard.map(({ text }) => text).join(' ');
  }

  /** Texts that the voice was asked to say. */
  get askedOfVoice(): readonly string[] {
    return this.#voiceOf.asked;
  }

  get messages(): readonly CallMessage[] {
    return this.#entries.flatMap(({ message }) => message ?? []).toSorted((one, other) => one.seq - other.seq);
  }

  /** The messages in the form `user: Hello`; ` …` ends those that were interrupted. */
  get transcript(): readonly string[] {
    return this.messages.map(({ role, content, interrupted }) => `${role}: ${content}${interrupted ? ' …' : ''}`);
  }

  get turns(): readonly CallTurn[] {
    return this.#entries.flatMap(({ turn }) => turn ?? []);
  }

  get toolCalls(): readonly CallToolCall[] {
    return this.#entries.flatMap(({ toolCall }) => toolCall ?? []);
  }

  get state(): ConversationState {
    return this.#state!;
  }

  /** Reason of the end, and its time in milliseconds since the call began. */
  get ended(): { readonly reason: FinishReason; readonly at: number } | undefined {
    return this.#ended;
  }

  /** Returns when a message began, in milliseconds since the call did. */
  at({ spokenAt }: CallMessage): number {
    return spokenAt.getTime() - (this.clock.now() - this.now);
  }

  // -- scripts

  #sounds(...pieces: readonly Int16Array[]): number {
    this.#said = joinSamples([this.#said, ...pieces]);
    return this.now + (1_000 * this.#said.length) / EAR_SAMPLE_RATE;
  }

  /** Passes on the sound that has come since the last time. */
  #listen(): void {
    if (this.#closed !== undefined) return;
    for (; this.#listenedMs + WINDOW_MS <= this.now; this.#listenedMs += WINDOW_MS) {
      const window = new Int16Array(WINDOW_SAMPLES);
      window.set(this.#said.subarray(0, WINDOW_SAMPLES));
      this.#said = this.#said.subarray(WINDOW_SAMPLES);
      // Node.js takes the sound later than timers that are due.
      if (!this.#muted) setImmediate(() => this.#call.ears?.hear(window));
    }
    this.clock.after(this.#listenedMs + WINDOW_MS - this.now, () => this.#listen());
  }

  #model(): AnswerSource {
    const { model = ({ lastUser }: AskedModel) => `I heard: ${lastUser}` } = this.#options;
    const answer = async function* (this: SimulatedCall, request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerEvent, void> {
      const asked = shown(request.history);
      const user = request.history.findLast((item) => item.type === 'message' && item.role === 'user');
      const lastUser = user?.type === 'message' ? user.text : '';
      const made = { ...request, asked, lastUser, at: this.now };
      this.requests.push(made);
      const script = model(made);
      const { text = '', calls = [], delayMs = 300, msPerWord = 20 } = typeof script === 'string' ? { text: script } : script;
      await sleep(this.clock, delayMs, signal);
      for (const word of text.match(/\S+\s*/gu) ?? []) {
        yield { type: 'text', text: word };
        await sleep(this.clock, msPerWord, signal);
      }
      for (const [index, each] of calls.entries()) {
        const { name, args, complete = true } = typeof each === 'string' ? { name: each, args: '{}' } : each;
        yield { type: 'call', call: { id: `${name}-${this.requests.length}-${index}`, name, arguments: args }, complete };
      }
    };
    return { answer: answer.bind(this) };
  }

  #turnModel(): TurnModel {
    const { turnIsOver = () => 1 } = this.#options;
    return {
      doInference: async (_method, { pcm }) => {
        const bytes = new Uint8Array(Buffer.from(pcm, 'base64'));
        return { probability: turnIsOver(this.#sound.wordsIn(new Int16Array(bytes.buffer)).join(' ')) };
      },
    };
  }

  // -- the end

  #end(reason: FinishReason, farewell: (() => Promise<void>) | undefined): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason, at: this.now };
    this.#closed ??= this.#close(farewell);
  }

  async #close(farewell: (() => Promise<void>) | undefined): Promise<void> {
    await farewell?.();
    await this.conversation.close();
    this.#call.voice?.close();
  }
}

/** Completes the spec with what the smallest agent has. */
function configOf(spec: Readonly<Record<string, unknown>> = {}): AgentRevisionConfig {
  const parsed = agentKind.spec.parse({
    llm: { provider: 'openai', model: 'm' },
    speechToText: { provider: 'deepgram' },
    textToSpeech: { provider: 'openai' },
    ...spec,
  });
  const { suspend: _suspend, displayName: _name, knowledgeBaseRef: _ref, ...agent } = parsed;
  return {
    format: 1,
    name: 'desk',
    displayName: 'Desk',
    agent,
    systemPrompt: null,
    tools: [],
    knowledgeBase: null,
    versions: { secrets: {}, knowledgeBaseUid: null },
  };
}

const endCall = (host: ToolHost): ToolDefinition => ({
  name: 'end_call',
  description: '',
  parameters: { type: 'object' },
  messages: {},
  actsOnCall: 'ends',
  refuse: () => undefined,
  run: async () => (host.end(), { succeeded: true }),
});
