/**
 * The language model of a call, with its fallbacks. The first one to answer is heard: the next is asked where one fails, and where the first token is
 * late; without fallbacks the same one again. Only one answer is read, so no tool runs twice. Where an answer breaks off, the next model goes on.
 * Each gets of the conversation what it has room for.
 */
import { toCallFailure, ProviderError } from '../../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/logging.ts';
import { retry } from '../../../platform/retry.ts';
import type { TokenUsage } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { firstAnswer } from '../../../calls/fallback/first-answer.ts';
import { LATE_MS, type ProviderOrder } from '../../../calls/fallback/provider-order.ts';
import { hasWords, type ModelCall, type ModelEvent } from '../../../calls/model-stream/index.ts';
import { wholeWords } from '../fallback/whole-words.ts';
import { afterTransient } from '../provider-errors.ts';
import { Continuation } from './continuation.ts';
import { promptBytes, fitted, type AnswerRequest } from './history.ts';
import type { AnsweringModel, AnswerInProgress } from './language-model.ts';
import { stallLimitMs } from './stall.ts';
import { Summarizer } from './summarizer.ts';

/** Time after which the same model is asked again, in milliseconds, and not before twice its usual time. */
const AGAIN_MS = 2_000;
/** Pauses before each further attempt where all have failed for a passing reason, in milliseconds. */
const RETRY_AFTER_MS = [100, 500] as const;
/** Number of calls whose time to the first token is remembered. */
const REMEMBERED = 9;

const CUT_OFF =
  '(Your answer above was cut off by a technical fault. Go on exactly where it stopped: say only the missing rest, repeat nothing, and do not mention it.)';

export type AnswerEvent =
  | { readonly type: 'text'; readonly text: string }
  /** A tool call. If it is not `complete`, the answer was cut off, and the call must not run. */
  | { readonly type: 'call'; readonly call: ModelCall; readonly complete: boolean }
  /** Data that the server wants to see again with the answer. */
  | { readonly type: 'extra'; readonly extra: JsonObject }
  | { readonly type: 'usage'; readonly usage: TokenUsage };

export interface HedgedLanguageModelOptions {
  readonly models: ProviderOrder<AnsweringModel>;
  /** Models that make summaries; `models` where absent: a realtime model holds one conversation, and no other. */
  readonly summaries?: ProviderOrder<AnsweringModel>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * True makes summaries before the answer that needs them, not beside the conversation: where nobody waits, and a replay has to send the
   * same requests.
   */
  readonly summarizesFirst?: boolean | undefined;
}

interface Asked {
  readonly request: AnswerRequest;
  /** Words of another model, before it broke off. */
  readonly said: string;
  readonly signal: AbortSignal;
}

interface Begun {
  readonly completion: AnswerInProgress;
  readonly events: ReturnType<AnswerInProgress['events']>;
  /** Events up to the first token. */
  readonly head: readonly ModelEvent[];
  /** Length of the request. */
  readonly bytes: number;
  readonly stop: AbortController;
}

export class HedgedLanguageModel {
  readonly #options: HedgedLanguageModelOptions;
  readonly #summarizer: Summarizer;
  /** Times from requests to their first token, in milliseconds. */
  #tookMs: readonly number[] = [];

  constructor(options: HedgedLanguageModelOptions) {
    this.#options = options;
    this.#summarizer = new Summarizer({ ...options, models: options.summaries ?? options.models });
  }

  get model(): string {
    return this.#options.models.current.model;
  }

  get provider(): string {
    return this.#options.models.current.provider;
  }

  /**
   * Answers a request. A reader who stops lets go of it by ending the iteration, or by the signal while it waits.
   * @throws ProviderError where no model answers, or none goes on; the signal's reason
   */
  async *answer(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerEvent, void> {
    const { summarizesFirst = false } = this.#options;
    if (summarizesFirst) await this.#summarize(request);
    const begin = async () => {
      const events = this.#attempt(request, signal);
      return { first: await events.next(), events };
    };
    const delayMs = afterTransient((failures) => RETRY_AFTER_MS[failures - 1]);
    // Attempts end with the first event: what was said can't be taken back.
    const { first, events } = await retry(begin, { delayMs, clock: this.#options.clock, signal });
    try {
      for (let next = first; next.done !== true; next = await events.next()) yield next.value;
    } finally {
      await events.return();
      if (!summarizesFirst) void this.#summarize(request);
    }
  }

  /** Returns a new model that asks another one first; the summaries stay with these. */
  withFirst(model: AnsweringModel): HedgedLanguageModel {
    const { models } = this.#options;
    return new HedgedLanguageModel({ ...this.#options, models: models.withFirst(model), summaries: models });
  }

  prewarm(signal: AbortSignal): void {
    void this.#options.models.current.prewarm(signal);
  }

  close(): void {
    this.#summarizer.close();
  }

  #summarize(request: AnswerRequest): Promise<void> {
    return this.#summarizer.consider(request, this.#options.models.current.window.bytes);
  }

  async *#attempt(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerEvent, void> {
    const { models } = this.#options;
    const answer = new Answer({ mayBeJoined: models.all.length > 1 });
    const broken: { readonly provider: AnsweringModel; readonly failure: unknown }[] = [];
    for (;;) {
      const left = models.order.filter((model) => !broken.some(({ provider }) => provider === model));
      const { provider, answer: begun, passed } = await this.#first(left, { request, said: answer.said, signal });
      models.answered(provider, [...broken.slice(-1), ...passed]);
      const failure = yield* this.#read(provider, begun, { answer, last: left.length === 1, offersTools: request.tools.length > 0 });
      signal.throwIfAborted();
      // A tool's effect stays: its result is answered next.
      if (failure === undefined || answer.calledTool) break;
      if (left.length === 1) throw failure;
      answer.cutOff();
      broken.push({ provider, failure });
    }
    yield* answer.end();
  }

  #first(models: readonly AnsweringModel[], asked: Asked) {
    const { clock } = this.#options;
    const [only] = models;
    const alone = models.length === 1 && only !== undefined;
    const usualMs = this.#tookMs.toSorted((a, b) => a - b)[Math.floor(this.#tookMs.length / 2)] ?? 0;
    const began = clock.monotonic();
    return firstAnswer({
      providers: alone ? [only, only] : models,
      onlyLate: alone,
      lateMs: alone ? Math.max(AGAIN_MS, 2 * usualMs) : LATE_MS,
      clock,
      signal: asked.signal,
      ask: async (model, signal) => {
        const begun = await this.#ask(model, { ...asked, signal });
        this.#tookMs = [...this.#tookMs, clock.monotonic() - began].slice(-REMEMBERED);
        return begun;
      },
    });
  }

  /** Asks a model. One that takes less than was expected of it is asked again, with less; one that answers nothing is asked once more. */
  async #ask(model: AnsweringModel, { request, said, signal }: Asked): Promise<Begun> {
    const { logger } = this.#options;
    for (let before = Number.POSITIVE_INFINITY, empty = false; ;) {
      const fitting = fitted(request, { maxBytes: model.window.bytes, summary: this.#summarizer.summary });
      const sent = said === '' ? fitting : continued(fitting, said);
      const bytes = promptBytes(sent);
      const stop = new AbortController();
      const completion = model.ask(sent, { signal: AbortSignal.any([signal, stop.signal]) });
      const events = completion.events();
      try {
        return { completion, events, head: await headOf(events), bytes, stop };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        const { kind, tooLong, message } = error;
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

  /** Reads an answer. @returns why it broke off */
  async *#read(
    model: AnsweringModel,
    { completion, events, head, bytes, stop }: Begun,
    { answer, last, offersTools }: { readonly answer: Answer; readonly last: boolean; readonly offersTools: boolean },
  ): AsyncGenerator<AnswerEvent, ProviderError | undefined> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    const leftMs = (): number => {
      const { callsTool, silentForMs } = completion;
      return stallLimitMs({ said: answer.said, saidForMs: clock.monotonic() - began, offersTools, callsTool }) - silentForMs;
    };
    const add = (event: ModelEvent): readonly AnswerEvent[] => {
      if (event.type === 'usage') model.window.counted(bytes, event.usage.inputTokens);
      return answer.add(event);
    };
    let over = false;
    try {
      yield* head.flatMap(add);
      for (;;) {
        const next = events.next();
        const read = last ? await next : await this.#unlessStalled(next, leftMs);
        if (read === undefined) {
          const silentMs = Math.round(completion.silentForMs);
          const message = `sent nothing more for ${silentMs} ms in the middle of an answer`;
          return toCallFailure({ part: 'llm', provider: model.provider }, 'connection_lost', message, { slow: true });
        }
        over = read.done === true;
        if (read.done === true) return undefined;
        yield* add(read.value);
      }
    } catch (error) {
      if (error instanceof ProviderError) return error;
      throw error;
    } finally {
      if (!over) stop.abort();
    }
  }

  /**
   * Waits for the next event. @returns undefined where nothing more comes in time; a tool call comes in parts, and is read when it is
   * complete
   */
  async #unlessStalled<T>(next: Promise<T>, leftMs: () => number): Promise<T | undefined> {
    for (let waitMs = leftMs(); ; waitMs = leftMs()) {
      const read = await withTimeout(this.#options.clock, Math.max(0, waitMs), next);
      if (read !== undefined || leftMs() <= 0) return read;
    }
  }
}

async function headOf(events: Begun['events']): Promise<readonly ModelEvent[]> {
  const head: ModelEvent[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done === true) return head;
    head.push(value);
    if (value.type === 'call' || (value.type === 'text' && hasWords(value.text))) return head;
  }
}

/** Adds a note for the model only, not for the history: a message of the user, which every provider answers. */
function continued(request: AnswerRequest, said: string): AnswerRequest {
  return {
    ...request,
    history: [
      ...request.history,
      { type: 'message', id: 'cut off', role: 'agent', text: said.trim() },
      { type: 'message', id: 'go on', role: 'user', text: CUT_OFF },
    ],
    // The model may have nothing more to say.
    mayBeEmpty: () => true,
  };
}

/**
 * Joins the answers of one or more models, so that the caller hears each word once. A word that may go on waits, for it could not be taken
 * back.
 */
class Answer {
  readonly #mayBeJoined: boolean;
  #said = '';
  #open = '';
  #continuation: Continuation | undefined;
  calledTool = false;

  constructor({ mayBeJoined }: { readonly mayBeJoined: boolean }) {
    this.#mayBeJoined = mayBeJoined;
  }

  get said(): string {
    return this.#said;
  }

  add(event: ModelEvent): readonly AnswerEvent[] {
    switch (event.type) {
      case 'text':
        return this.#add(event.text);
      case 'call':
        return this.#call([event.call], true);
      case 'end':
        return this.#call(event.unfinished, false);
      case 'extra':
      case 'usage':
        return [event];
      default:
        return [];
    }
  }

  /** Cuts the answer off after the last whole word, where the next model goes on. */
  cutOff(): void {
    this.#open = '';
    this.#continuation = this.#said === '' ? undefined : new Continuation(this.#said);
  }

  end(): readonly AnswerEvent[] {
    const rest = this.#open + (this.#continuation?.end() ?? '');
    this.#open = '';
    return this.#say(rest);
  }

  #add(text: string): readonly AnswerEvent[] {
    const joined = this.#open + (this.#continuation?.push(text) ?? text);
    const [whole, open] = this.#mayBeJoined ? wholeWords(joined) : [joined, ''];
    this.#open = open;
    return this.#say(whole);
  }

  #call(calls: readonly ModelCall[], complete: boolean): readonly AnswerEvent[] {
    if (calls.length === 0) return [];
    this.calledTool = true;
    return [...this.end(), ...calls.map((call) => ({ type: 'call', call, complete }) as const)];
  }

  #say(text: string): readonly AnswerEvent[] {
    this.#said += text;
    return text === '' ? [] : [{ type: 'text', text }];
  }
}
