/**
 * The language model of a call, with its fallbacks. The first one to answer is heard: the next is asked where one fails, and where the first token is
 * late; without fallbacks the same one again. Only one answer is read, so no tool runs twice. Where an answer breaks off, the next model goes on.
 * Each gets of the conversation what it has room for.
 */
import { DEFAULT_API_CONNECT_OPTIONS, llm as llms, type APIConnectOptions } from '@livekit/agents';

import { failureOf, type ProviderError } from '../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';
import { firstAnswer } from '../../calls/fallback/first-answer.ts';
import { LATE_MS, type ProviderOrder } from '../../calls/fallback/provider-order.ts';
import { wholeWords } from '../fallback/whole-words.ts';
import { ProviderApiError, providerFailureOf } from '../provider-errors.ts';
import { Continuation } from './continuation.ts';
import { bytesOf, fitted } from './history.ts';
import type { CompletionStream, LanguageModel } from './language-model.ts';
import { stallLimitMs } from './stall.ts';
import { Summarizer } from './summarizer.ts';

/** The same model is asked again after so long, in milliseconds, and not before twice its usual time. */
const AGAIN_MS = 2_000;
/** Calls whose time to the first token is remembered. */
const REMEMBERED = 9;

const CUT_OFF =
  '(Your answer above was cut off by a technical fault. Go on exactly where it stopped: say only the missing rest, repeat nothing, and do not mention it.)';

export interface HedgedLanguageModelOptions {
  readonly models: ProviderOrder<LanguageModel>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type ChatOptions = Parameters<llms.LLM['chat']>[0];

export class HedgedLanguageModel extends llms.LLM {
  readonly #options: HedgedLanguageModelOptions;
  readonly #summarizer: Summarizer;
  /** Whether an answer may be empty: the caller has heard what there is to say since their last words. */
  mayBeEmpty = (): boolean => false;
  #tookMs: readonly number[] = [];

  constructor(options: HedgedLanguageModelOptions) {
    super();
    this.#options = options;
    this.#summarizer = new Summarizer(options);
    // Reported by the answer as a whole.
    for (const model of options.models.all) model.on('error', () => undefined);
  }

  override label(): string {
    return 'parley.HedgedLanguageModel';
  }

  override get model(): string {
    return this.#options.models.current.model;
  }

  override get provider(): string {
    return this.#options.models.current.provider;
  }

  override chat({ connOptions = DEFAULT_API_CONNECT_OPTIONS, extraKwargs: _none, ...chat }: ChatOptions): llms.LLMStream {
    const { models, clock, logger } = this.#options;
    const usualMs = this.#tookMs.toSorted((a, b) => a - b)[Math.floor(this.#tookMs.length / 2)] ?? 0;
    return new HedgedStream(this, {
      chat: { ...chat, mayBeEmpty: () => this.mayBeEmpty() },
      connOptions,
      models,
      summarizer: this.#summarizer,
      clock,
      logger,
      againMs: Math.max(AGAIN_MS, 2 * usualMs),
      onTook: (ms) => void (this.#tookMs = [...this.#tookMs, ms].slice(-REMEMBERED)),
    });
  }

  override async aclose(): Promise<void> {
    this.#summarizer.close();
    await Promise.all([super.aclose(), ...this.#options.models.all.map((model) => model.aclose())]);
  }

  protected override async _prewarmImpl(): Promise<void> {
    this.#options.models.current.prewarm();
  }
}

interface HedgedStreamOptions extends HedgedLanguageModelOptions {
  readonly chat: Omit<ChatOptions, 'connOptions' | 'extraKwargs'> & { readonly mayBeEmpty: () => boolean };
  readonly summarizer: Summarizer;
  readonly connOptions: APIConnectOptions;
  readonly againMs: number;
  /** From the request to the first token, in milliseconds. */
  readonly onTook: (ms: number) => void;
}

interface Begun {
  /** Up to the first token. */
  readonly head: readonly llms.ChatChunk[];
  readonly stream: CompletionStream;
  /** How long the request was. */
  readonly bytes: number;
}

class HedgedStream extends llms.LLMStream {
  readonly #options: HedgedStreamOptions;

  constructor(owner: HedgedLanguageModel, options: HedgedStreamOptions) {
    const { chatCtx, toolCtx } = options.chat;
    super(owner, { chatCtx, connOptions: options.connOptions, ...(toolCtx !== undefined && { toolCtx }) });
    this.#options = options;
  }

  protected override async run(): Promise<void> {
    const { models } = this.#options;
    const answer = new Answer({ put: (chunk) => this.queue.put(chunk), mayBeJoined: models.all.length > 1 });
    const broken: { readonly provider: LanguageModel; readonly failure: unknown }[] = [];
    try {
      for (;;) {
        const left = models.order.filter((model) => !broken.some(({ provider }) => provider === model));
        const { provider, answer: begun, passed } = await this.#first(left, answer.said);
        models.answered(provider, [...broken.slice(-1), ...passed]);
        const failure = await this.#read(provider, begun, { answer, last: left.length === 1 });
        // What a tool does is done: its result is answered next.
        if (failure === undefined || answer.calledTool) return answer.end();
        if (left.length === 1) throw new ProviderApiError(failure, { retryable: false });
        answer.cutOff();
        broken.push({ provider, failure });
      }
    } catch (error) {
      if (this.abortController.signal.aborted) return;
      // Words that were said can't be taken back.
      const retryable = answer.said === '' && error instanceof ProviderApiError && error.retryable;
      throw new ProviderApiError(providerFailureOf(error, 'llm'), { retryable });
    } finally {
      const { chat, summarizer } = this.#options;
      summarizer.consider({ ...chat, maxBytes: models.current.window.bytes });
    }
  }

  /** @param said by another model, before it broke off */
  #first(models: readonly LanguageModel[], said: string) {
    const { clock, againMs, onTook } = this.#options;
    const [only] = models;
    const alone = models.length === 1 && only !== undefined;
    const began = clock.monotonic();
    return firstAnswer({
      providers: alone ? [only, only] : models,
      onlyLate: alone,
      lateMs: alone ? againMs : LATE_MS,
      clock,
      signal: this.abortController.signal,
      ask: async (model, signal) => {
        const begun = await this.#ask(model, said, signal);
        onTook(clock.monotonic() - began);
        return begun;
      },
    });
  }

  /** A model that takes less than was expected of it is asked again, with less; one that answers nothing is asked once more. */
  async #ask(model: LanguageModel, said: string, signal: AbortSignal): Promise<Begun> {
    const { chat, summarizer, connOptions, logger } = this.#options;
    for (let before = Number.POSITIVE_INFINITY, empty = false; ;) {
      const fitting = fitted({ ...chat, maxBytes: model.window.bytes, summary: summarizer.summary });
      const chatCtx = said === '' ? fitting : continued(fitting, said);
      const bytes = bytesOf(chatCtx, chat.toolCtx);
      try {
        // Of an answer that is gone on with there may be nothing more to say.
        const mayBeEmpty = said === '' ? chat.mayBeEmpty : () => true;
        const stream = model.chat({ ...chat, chatCtx, mayBeEmpty, connOptions: { ...connOptions, maxRetry: 0 } });
        return { ...(await begin(stream, signal)), bytes };
      } catch (error) {
        if (!(error instanceof ProviderApiError)) throw error;
        const { kind, tooLong, message } = error.failure;
        if (kind === 'empty' && !empty) {
          empty = true;
          logger.warn(
            { provider: model.provider, model: model.model, failure: message },
            'a language model answered nothing; asking it again',
          );
        } else if (tooLong && bytes < before) {
          model.window.refused(bytes);
          before = bytes;
        } else throw error;
      }
    }
  }

  /** @returns why the answer broke off */
  async #read(
    model: LanguageModel,
    { head, stream, bytes }: Begun,
    { answer, last }: { readonly answer: Answer; readonly last: boolean },
  ): Promise<ProviderError | undefined> {
    const began = this.#options.clock.monotonic();
    const add = (chunk: llms.ChatChunk): void => {
      answer.add(chunk);
      if (chunk.usage !== undefined) model.window.counted(bytes, chunk.usage.promptTokens);
    };
    head.forEach(add);
    const endpoint = { part: 'llm', provider: model.provider } as const;
    for (;;) {
      const next = stream.next();
      const read = last ? await next : await this.#unlessStalled(next, stream, { said: answer.said, began });
      this.abortController.signal.throwIfAborted();
      if (read === undefined) {
        const silentMs = Math.round(stream.silentForMs);
        stream.close();
        return failureOf(endpoint, 'connection_lost', `sent nothing more for ${silentMs} ms in the middle of an answer`, { slow: true });
      }
      if (read.done === true) return stream.failure?.failure;
      add(read.value);
    }
  }

  /** @returns undefined where nothing more comes in time; a tool call comes in parts, and is read when it is complete */
  async #unlessStalled<T>(
    next: Promise<T>,
    stream: CompletionStream,
    { said, began }: { readonly said: string; readonly began: number },
  ): Promise<T | undefined> {
    const { clock, chat } = this.#options;
    const { functionTools = {} } = llms.toToolContext(chat.toolCtx) ?? {};
    const offersTools = Object.keys(functionTools).length > 0;
    const leftMs = (): number =>
      stallLimitMs({ said, saidForMs: clock.monotonic() - began, offersTools, callsTool: stream.callsTool }) - stream.silentForMs;
    for (let waitMs = leftMs(); ; waitMs = leftMs()) {
      const read = await withTimeout(clock, Math.max(0, waitMs), next);
      if (read !== undefined || leftMs() <= 0) return read;
    }
  }
}

/** @throws ProviderApiError, or the signal's reason */
async function begin(stream: CompletionStream, signal: AbortSignal): Promise<Omit<Begun, 'bytes'>> {
  signal.addEventListener('abort', () => stream.close(), { once: true });
  const head: llms.ChatChunk[] = [];
  for (;;) {
    const { done, value } = await stream.next();
    signal.throwIfAborted();
    if (done === true) {
      if (stream.failure !== undefined) throw stream.failure;
      return { head, stream };
    }
    head.push(value);
    if (llms.hasResponse(value)) return { head, stream };
  }
}

/** Goes to the model only, not into the history. A message of the user is what every provider answers. */
function continued(chatCtx: llms.ChatContext, said: string): llms.ChatContext {
  const context = chatCtx.copy();
  context.addMessage({ role: 'assistant', content: said.trim() });
  context.addMessage({ role: 'user', content: CUT_OFF });
  return context;
}

/** What the caller hears of one or more models: each word once. A word that may go on waits, for it could not be taken back. */
class Answer {
  readonly #options: { readonly put: (chunk: llms.ChatChunk) => void; readonly mayBeJoined: boolean };
  #said = '';
  #open = '';
  #continuation: Continuation | undefined;
  #last: llms.ChatChunk | undefined;
  calledTool = false;

  constructor(options: { readonly put: (chunk: llms.ChatChunk) => void; readonly mayBeJoined: boolean }) {
    this.#options = options;
  }

  get said(): string {
    return this.#said;
  }

  add(chunk: llms.ChatChunk): void {
    const { content = '', toolCalls = [], extra } = chunk.delta ?? {};
    const joined = this.#open + (this.#continuation?.push(content) ?? content);
    const [whole, open] = this.#options.mayBeJoined ? wholeWords(joined) : [joined, ''];
    this.#last = chunk;
    this.#open = open;
    if (toolCalls.length > 0) {
      this.calledTool = true;
      this.#say(chunk, whole + this.#take());
    } else if (whole !== '' || content === '' || extra !== undefined) this.#say(chunk, whole);
  }

  /** The next model goes on after the last whole word. */
  cutOff(): void {
    this.#open = '';
    this.#continuation = this.#said === '' ? undefined : new Continuation(this.#said);
  }

  end(): void {
    const rest = this.#take();
    if (this.#last !== undefined && rest !== '') this.#say({ id: this.#last.id, delta: { role: 'assistant' } }, rest);
  }

  #take(): string {
    const rest = this.#open + (this.#continuation?.end() ?? '');
    this.#open = '';
    return rest;
  }

  #say(chunk: llms.ChatChunk, content: string): void {
    this.#said += content;
    this.#options.put(chunk.delta === undefined ? chunk : { ...chunk, delta: { ...chunk.delta, content } });
  }
}
