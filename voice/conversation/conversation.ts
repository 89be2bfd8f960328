/** A conversation: one queue of events, and the effects of each step carried out. Everything asynchronous comes back as an event. */
import { withTimeout, type Clock, type Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { FinishReason } from '../../store/index.ts';
import { argumentsToPass, rawArguments } from '../../calls/model-stream/index.ts';
import { errorTypeOf, type ProviderError, type ProviderPart } from '../../calls/provider-access/index.ts';
import type { DynamicData } from '../../crds/template.ts';
import { providerFailureOf } from '../providers/provider-errors.ts';
import { offeredParameters } from '../tools/offered-parameters.ts';
import { refuseUnknown, runCall } from '../tools/run-call.ts';
import type { HandOverOutcome, HandOverRequest, ToolHost, TransferOutcome, TransferTarget } from '../tools/tool-host.ts';
import type { Arguments, ToolDefinition } from '../tools/tool-result.ts';
import type { AgentTurns } from './agent-turns.ts';
import { MAX_ADDED_LENGTH } from './control.ts';
import type { ConversationEvent, Effect, Failure, TimerName } from './events.ts';
import { apologyIn } from './fixed-phrases.ts';
import { MAX_GOODBYE_MS } from './goodbye.ts';
import type { HistoryItem, OfferedTool } from '../providers/llm/history.ts';
import type { AnswerSource, CreateEars, CreateVoice, Ears, Voice } from './ports.ts';
import type { Entry } from './entry.ts';
import type { InterruptionRules } from './interruption-rules.ts';
import { wholeHistory } from './requests.ts';
import { initialState, isQuiet, isSaid, type ConversationSettings, type ConversationState, type HandOver } from './state.ts';
import { step } from './step.ts';

/** Longest time that the agent's words may delay a transfer, in milliseconds. */
const MAX_ANNOUNCEMENT_MS = 10_000;
/** Longest wait for the user's last words, in milliseconds. */
const LAST_WORDS_MS = 3_000;
/** Longest time that tools may go on without the call, in milliseconds. */
const TOOL_GRACE_MS = 5_000;

/** An agent as it answers in a conversation. */
export interface TalkingAgent {
  /** Name of the agent. */
  readonly agent: string;
  readonly model: AnswerSource;
  readonly language: string;
  readonly instructions: string;
  readonly interruptions: InterruptionRules;
  /** Silence that ends a turn, in milliseconds; 0 in text. */
  readonly turnEndMs?: number | undefined;
  /** Rules for silence; absent where silence has no meaning. */
  readonly silence?: ConversationSettings['silence'];
  /** Builds the tools that the model may call. @param stop aborts when no tool may run any more */
  readonly tools: (host: ToolHost, stop: AbortSignal) => readonly ToolDefinition[];
  readonly data: DynamicData;
  /** Called when it takes over. */
  readonly onTakeOver?: (() => void) | undefined;
}

export interface ConversationOptions extends TalkingAgent {
  readonly voice: CreateVoice;
  /** Creates the ears of a call; absent in text. */
  readonly ears?: CreateEars | undefined;
  /** The welcome message; absent where the agent waits for the user. */
  readonly welcome: string | undefined;
  /** Longest duration from the beginning, in milliseconds. */
  readonly maxDurationMs: number;
  /** Prepares the agent that is to take over; absent where nobody can. */
  readonly handOver?: PrepareHandOver | undefined;
  readonly transfer: (target: TransferTarget) => Promise<TransferOutcome>;
  readonly log: { add(entries: readonly Entry[]): void };
  /** Called with the state after each event. */
  readonly onChange?: (state: ConversationState) => void;
  readonly turns: AgentTurns;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Called when the call has to end; it says `farewell` to the caller first.
   * May be called more than once; the first reason counts.
   */
  readonly onEnd: (reason: FinishReason, farewell?: () => Promise<void>) => void;
  /** Plays tones in place of an apology where there is no voice. Resolves when they were heard. */
  readonly tones?: () => Promise<void>;
  readonly onFailure?: (failure: ProviderError) => void;
}

/** Prepares an agent. @param request has the agent that hands over, and what both sides have said */
export type PrepareHandOver = (
  request: HandOverRequest & { readonly from: string; readonly messages: readonly HistoryItem[] },
) => Promise<PreparedHandOver>;

export type PreparedHandOver =
  | ({ readonly outcome: 'ready'; readonly agent: TalkingAgent } & Pick<HandOver, 'note' | 'summary'>)
  | { readonly outcome: 'refused'; readonly message: string };

interface Talking extends TalkingAgent {
  readonly definitions: ReadonlyMap<string, ToolDefinition>;
  readonly offered: readonly OfferedTool[];
  readonly settings: ConversationSettings;
}

export class Conversation {
  readonly #options: ConversationOptions;
  #talking: Talking;
  /** Hand-overs for which an agent is ready, by their ids. */
  readonly #ready = new Map<string, { readonly talking: Talking; readonly handover: HandOver }>();
  readonly #voice: Voice;
  #ears: Ears | undefined;
  readonly #queue: ConversationEvent[] = [];
  readonly #waiting = new Set<{ readonly until: (state: ConversationState) => boolean; readonly resolve: () => void }>();
  readonly #asking = new Map<string, AbortController>();
  readonly #running = new Map<string, AbortController>();
  readonly #stopTools = new AbortController();
  /** Instructions that were added while the call goes on. */
  readonly #added: string[] = [];
  /** The time at which the conversation was created: of the clock that never goes back, and of the other one. */
  readonly #origin: { readonly monotonic: number; readonly now: number };
  #state: ConversationState;
  readonly #failures = new WeakMap<Failure, ProviderError>();
  #stepping = false;
  #closing: Promise<void> | undefined;
  readonly #timers = new Map<TimerName, Timer>();
  /** Timer of the longest duration; after the end, of the wait for tools. */
  #timer: Timer | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { clock } = options;
    this.#origin = { monotonic: clock.monotonic(), now: clock.now() };
    this.#talking = this.#talkingAs(options, options.welcome);
    this.#state = initialState(this.#talking.settings);
    const report = (event: ConversationEvent): void => this.#happened(event);
    this.#voice = options.voice({ report, fail: (error) => report({ type: 'mute', failure: this.#failureOf(error, 'tts') }) });
  }

  /** Starts to hear the user. */
  listen(): void {
    const report = (event: ConversationEvent): void => this.#happened(event);
    this.#ears ??= this.#options.ears?.({ report, fail: (error) => report({ type: 'deaf', failure: this.#failureOf(error, 'stt') }) });
  }

  /** Begins with the welcome message, and measures the duration from now on. */
  begin(): void {
    if (this.#state.begun || this.#state.closed) return;
    const { clock, maxDurationMs, onEnd } = this.#options;
    this.#timer = clock.after(maxDurationMs, () => onEnd('maximum_duration_exceeded'));
    this.#happened({ type: 'begun' });
  }

  /** Takes what the user writes as a turn, like words. */
  written(text: string): void {
    this.#options.turns.heard();
    this.#happened({ type: 'turn', text });
  }

  /** Keeps the agent silent until {@link screened}: a machine may have answered. */
  screen(): void {
    this.#happened({ type: 'screening' });
  }

  /** Lets the agent speak: a person listens. */
  screened(): void {
    this.#happened({ type: 'screened' });
  }

  /** Says a message to a machine that has answered, and nothing after it. Resolves when it was said. */
  leaveMessage(text: string): Promise<void> {
    this.#happened({ type: 'message', text });
    return this.said();
  }

  /** Breaks the silence: the user is there, without a word. */
  keyPressed(): void {
    this.#happened({ type: 'key' });
  }

  /** Drops what was being said to the agent. */
  held(): void {
    this.#happened({ type: 'held' });
  }

  /** Returns what both sides have said, whoever talked. */
  get messages(): readonly HistoryItem[] {
    return wholeHistory(this.#state).filter((item) => item.type === 'message' && item.isNote !== true);
  }

  /** Takes the keys that the user pressed as a turn. */
  pressed(keys: string): void {
    this.written(`[pressed ${keys}]`);
  }

  /** Resolves when nothing is being said, no tool runs and no answer is pending, those that begin meanwhile included. */
  quiet(): Promise<void> {
    return this.#until(isQuiet);
  }

  /** Resolves when the agent's present words are in the transcript; its tools may go on. */
  said(): Promise<void> {
    return this.#until(isSaid);
  }

  get isQuiet(): boolean {
    return isQuiet(this.#state);
  }

  /** Ends all speaking and listening. Resolves when the last words are in the transcript. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock, turns } = this.#options;
    this.#timer?.cancel();
    if (this.#running.size > 0) this.#timer = clock.after(TOOL_GRACE_MS, () => this.#stopTools.abort(new Error('the call is over')));
    if (this.#ears !== undefined) {
      this.#happened({ type: 'closing' });
      await withTimeout(clock, LAST_WORDS_MS, this.#ears.finish());
      this.#ears.close();
    }
    this.#happened({ type: 'closed' });
    for (const timer of this.#timers.values()) timer.cancel();
    await this.said();
    turns.close();
  }

  // -- for people who steer it from outside

  /** Has the agent say this. @param interrupt true silences it first @returns why not; undefined where it does */
  tell(text: string, { interrupt = false } = {}): string | undefined {
    const { begun, screening, muted, ending, closing } = this.#state;
    if (!begun || screening) return 'the conversation has not begun';
    if (ending || closing) return 'the call is ending';
    if (muted) return 'the agent is muted';
    this.#happened({ type: 'told', text, interrupt });
    return undefined;
  }

  /** Adds to the instructions of the model, from its next request on. @returns why not; undefined where it does */
  instruct(text: string): string | undefined {
    if ([...this.#added, text].join('').length > MAX_ADDED_LENGTH)
      return `the instructions of one call may have ${MAX_ADDED_LENGTH} characters together`;
    this.#added.push(text);
    return undefined;
  }

  /** Takes what a person has said in place of the agent. @param since when it began, in milliseconds since the epoch */
  saidByColleague(text: string, since: number): void {
    this.#happened({ type: 'colleague', text, since });
  }

  /** Mutes the agent, or lets it speak again. Idempotent. */
  mute(on: boolean): void {
    this.#happened({ type: 'muted', on });
  }

  // -- for tools

  #talkingAs(agent: TalkingAgent, welcome?: string): Talking {
    const { agent: name, language, interruptions, turnEndMs = 0, silence } = agent;
    const tools = agent.tools(this.#hostOf(name), this.#stopTools.signal);
    const namesOf = (has: (tool: ToolDefinition) => boolean | undefined): readonly string[] =>
      tools.filter((tool) => has(tool) === true).map((tool) => tool.name);
    return {
      ...agent,
      definitions: new Map(tools.map((tool) => [tool.name, tool])),
      offered: tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: offeredParameters(tool.parameters) })),
      settings: {
        agent: name,
        welcome,
        language,
        interruptions,
        turnEndMs,
        silence,
        stoppedByInterruption: namesOf(({ stopsOnInterruption }) => stopsOnInterruption),
        handoffs: namesOf(({ handsOver }) => handsOver),
      },
    };
  }

  /** Returns the conversation as the tools of one agent have it: they may outlast its turn to talk. */
  #hostOf(agent: string): ToolHost {
    return {
      say: (text, { answers } = { answers: false }) => this.#happened({ type: 'announced', text, answers, agent }),
      end: () => this.#happened({ type: 'ending', agent }),
      transfer: (target) => this.transfer(target),
      recordSources: (sources) => this.#happened({ type: 'found', sources, agent }),
      startSpan: (start) => this.#options.turns.startSpan(start),
      handOver: (request) => this.#prepareHandOver({ ...request, from: agent }),
    };
  }

  /** Transfers the call once the caller has heard the tool's own message and the answer that asks for the transfer. */
  async transfer(target: TransferTarget): Promise<TransferOutcome> {
    await this.#saidWithin(MAX_ANNOUNCEMENT_MS);
    return this.#options.transfer(target);
  }

  async #prepareHandOver(request: HandOverRequest & { readonly from: string }): Promise<HandOverOutcome> {
    const prepared = await this.#options.handOver?.({ ...request, messages: this.messages });
    if (prepared === undefined) return { outcome: 'refused', message: 'Nothing was done: there is nobody else in this conversation.' };
    if (prepared.outcome === 'refused') return prepared;
    const { agent, note, summary } = prepared;
    const { say, context } = request;
    const talking = this.#talkingAs(agent);
    const id = `handover-${this.#ready.size + 1}`;
    this.#ready.set(id, { talking, handover: { id, settings: talking.settings, say, context, note, summary } });
    return { outcome: 'ready', handover: id };
  }

  // -- the queue

  #happened(event: ConversationEvent): void {
    this.#queue.push(event);
    if (this.#stepping) return;
    this.#stepping = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const { state, effects } = step(this.#state, next, this.#now());
        this.#state = state;
        for (const effect of effects) this.#carryOut(effect);
      }
    } finally {
      this.#stepping = false;
    }
    this.#options.onChange?.(this.#state);
    for (const waiting of this.#waiting) {
      if (!waiting.until(this.#state)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  #now(): number {
    return this.#origin.now + (this.#options.clock.monotonic() - this.#origin.monotonic);
  }

  #until(until: (state: ConversationState) => boolean): Promise<void> {
    if (until(this.#state)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add({ until, resolve });
    return promise;
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        return void this.#ask(effect);
      case 'cancelAnswer':
        return this.#asking.get(effect.answer)?.abort();
      case 'say':
        return this.#voice.say(effect.speech, effect.text);
      case 'sayNoMore':
        return this.#voice.sayNoMore(effect.speech);
      case 'cancelSpeech':
        return this.#voice.cancel(effect.speech);
      case 'pausePlayout':
        return this.#voice.pause();
      case 'resumePlayout':
        return this.#voice.resume();
      case 'wait':
        return this.#wait(effect.timer, effect.ms);
      case 'stopWaiting':
        this.#timers.get(effect.timer)?.cancel();
        return void this.#timers.delete(effect.timer);
      case 'run':
        return void this.#run(effect);
      case 'takeOver':
        return this.#takeOver(effect.handover);
      case 'stopTool':
        return this.#running.get(effect.callId)?.abort();
      case 'record':
        this.#options.turns.written(effect.entries);
        return this.#options.log.add(effect.entries);
      case 'end':
        return this.#end(effect);
    }
  }

  #wait(timer: TimerName, ms: number): void {
    this.#timers.get(timer)?.cancel();
    const waiting = this.#options.clock.after(ms, () => void this.#waited(timer, waiting));
    this.#timers.set(timer, waiting);
  }

  /** Takes sound that came during a stall of the process before the timer. */
  async #waited(name: TimerName, timer: Timer): Promise<void> {
    await this.#ears?.caughtUp();
    if (this.#timers.get(name) !== timer) return;
    this.#timers.delete(name);
    this.#happened({ type: 'waited', timer: name });
  }

  async #ask({ answer, history, mayCall }: Extract<Effect, { readonly type: 'ask' }>): Promise<void> {
    const { model, offered: tools } = this.#talking;
    const instructions = withAdded(this.#talking.instructions, this.#added);
    const controller = new AbortController();
    const { signal } = controller;
    this.#asking.set(answer, controller);
    const mayBeEmpty = (): boolean => this.#state.answeredByTool;
    try {
      // Another event of the same moment may call the request off: then nothing is sent.
      await Promise.resolve();
      signal.throwIfAborted();
      for await (const event of model.answer({ instructions, history, tools, mayCall, mayBeEmpty }, signal)) {
        if (event.type === 'text') this.#happened({ type: 'words', answer, text: event.text });
        else if (event.type === 'extra') this.#happened({ type: 'extra', answer, extra: event.extra });
        else if (event.type === 'call') this.#happened({ type: 'call', answer, call: event.call, complete: event.complete });
      }
      this.#happened({ type: 'answered', answer });
    } catch (error) {
      if (signal.aborted) return;
      this.#happened({ type: 'failed', answer, failure: this.#failureOf(error, 'llm') });
    } finally {
      this.#asking.delete(answer);
    }
  }

  async #run({ call, complete, refused }: Extract<Effect, { readonly type: 'run' }>): Promise<void> {
    const { id: callId, name } = call;
    const controller = new AbortController();
    this.#running.set(callId, controller);
    const args = JSON.parse(complete ? argumentsToPass(call.arguments) : rawArguments(call.arguments)) as Arguments;
    const { clock, logger } = this.#options;
    const { agent, data, definitions } = this.#talking;
    const definition = definitions.get(name);
    const options = { host: this.#hostOf(agent), data, clock, logger: logger.child({ agent }), signal: this.#stopTools.signal };
    const { result, record } =
      definition === undefined
        ? refuseUnknown({ name, args, known: [...definitions.keys()] }, options)
        : await runCall(
            refused === undefined ? definition : { ...definition, refuse: () => refused },
            { callId, args, interrupted: controller.signal },
            options,
          );
    this.#running.delete(callId);
    if (this.#state.closed && this.#running.size === 0) this.#timer?.cancel();
    const output = result.forModel === undefined ? undefined : JSON.stringify(result.forModel);
    this.#happened({ type: 'ran', callId, output, record, handover: this.#ready.get(result.handover ?? '')?.handover });
  }

  #takeOver(id: string): void {
    this.#talking = this.#ready.get(id)!.talking;
    const { agent, onTakeOver } = this.#talking;
    this.#options.logger.info({ agent }, 'another agent has taken the call over');
    onTakeOver?.();
  }

  #end({ reason, failed }: Extract<Effect, { readonly type: 'end' }>): void {
    const { onEnd, onFailure, logger, turns } = this.#options;
    const { agent, language } = this.#talking;
    if (failed === undefined) return onEnd(reason, () => this.#saidWithin(MAX_GOODBYE_MS));
    const failure = this.#failures.get(failed)!;
    turns.failed(errorTypeOf(failure));
    logger.error({ ...failed, agent, reason, err: failure }, 'a provider has failed');
    onFailure?.(failure);
    onEnd(reason, async () => {
      await this.#saidWithin(MAX_GOODBYE_MS);
      if (failed.part === 'tts') return this.#options.tones?.();
      // The farewell uses what still works, so that the caller does not wait for an answer.
      this.#happened({ type: 'farewell', apology: apologyIn(language) });
      await this.#saidWithin(MAX_GOODBYE_MS);
    });
  }

  #failureOf(error: unknown, part: ProviderPart): Failure {
    const failure = providerFailureOf(error, part);
    const { kind, provider, status } = failure;
    const plain = { part: failure.part, kind, provider, ...(status !== undefined && { status }) };
    this.#failures.set(plain, failure);
    return plain;
  }

  async #saidWithin(ms: number): Promise<void> {
    await withTimeout(this.#options.clock, ms, this.said());
  }
}

/** Joins the instructions of the agent and those that people have added in the call. */
function withAdded(instructions: string, added: readonly string[]): string {
  if (added.length === 0) return instructions;
  return `${instructions}\n\nA supervisor has added this while the call goes on, and it comes before what is above:\n${added.join('\n')}`;
}
