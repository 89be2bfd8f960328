/** From the messages of a session to the rows of its call: what was said, and the latencies of each answer. */
import type { CallMessage, CallToolCall, CallTurn } from '../../store/index.ts';
import type { Entry } from '../conversation/records.ts';

/** Of LiveKit's `ChatMessage`; its times are in seconds since the epoch and durations in seconds, `createdAt` is in milliseconds: when it was about to be said. */
export interface SpokenMessage {
  readonly role: string;
  readonly text: string;
  readonly interrupted: boolean;
  readonly createdAt: number;
  readonly metrics: {
    readonly startedSpeakingAt?: number;
    readonly stoppedSpeakingAt?: number;
    readonly transcriptionDelay?: number;
    readonly endOfTurnDelay?: number;
    readonly llmNodeTtft?: number;
    readonly ttsNodeTtfb?: number;
  };
}

type Answer = { -readonly [K in keyof Omit<CallTurn, 'seq'>]: CallTurn[K] };

/**
 * Numbered by the milliseconds since the call was taken: LiveKit reports a message when its speech is over, so that one that began earlier may come
 * later.
 */
export class Transcript {
  readonly #from: number;
  readonly #used = new Set<number>();
  /** Latencies so far of the answer to the user's last words; undefined when they have been answered. */
  #open: { readonly stoppedAt: number | undefined; readonly answer: Answer; seq: number | undefined } | undefined;
  #sources: readonly { readonly addedAt: number; readonly source: unknown }[] = [];

  /** @param from milliseconds since the epoch: nothing was said before */
  constructor(from: number) {
    this.#from = from;
  }

  /** Of the agent's next answer that the model begins after them. @param now milliseconds since the epoch */
  addSources(sources: readonly unknown[], now: number): void {
    this.#sources = [...this.#sources, ...sources.map((source) => ({ addedAt: now, source }))];
  }

  addToolCall(call: Omit<CallToolCall, 'seq'>): readonly Entry[] {
    return [{ toolCall: { seq: this.#number(call.beganAt.getTime()), ...call } }];
  }

  /** The agent begins to be heard. @param now milliseconds since the epoch */
  agentSpeaks(now: number): void {
    if (this.#open?.stoppedAt === undefined || this.#open.answer.v2v !== null) return;
    this.#open.answer.v2v = Math.max(0, now - this.#open.stoppedAt);
  }

  /** @returns what is to be written; nothing for an empty message */
  add(said: SpokenMessage): readonly Entry[] {
    const content = said.text.trim();
    if (said.role === 'user') return content === '' ? [] : this.#addUser(said, content);
    if (said.role !== 'assistant') return [];
    return this.#addAgent(said, content);
  }

  /** The latencies of an answer that was never completed. */
  close(): readonly Entry[] {
    const turn = this.#closeTurn();
    return turn === undefined ? [] : [{ turn }];
  }

  #addUser(said: SpokenMessage, content: string): readonly Entry[] {
    const entries = [...this.close()];
    const { startedSpeakingAt, stoppedSpeakingAt, endOfTurnDelay, transcriptionDelay } = said.metrics;
    const message = this.#message('user', said, content, startedSpeakingAt);
    this.#open = {
      stoppedAt: stoppedSpeakingAt === undefined ? undefined : stoppedSpeakingAt * 1000,
      answer: { eou: milliseconds(endOfTurnDelay), stt: milliseconds(transcriptionDelay), llmTtft: null, ttsTtfb: null, v2v: null },
      seq: undefined,
    };
    entries.push({ message });
    return entries;
  }

  #addAgent(said: SpokenMessage, content: string): readonly Entry[] {
    const { startedSpeakingAt, llmNodeTtft, ttsNodeTtfb } = said.metrics;
    const message = content === '' ? undefined : this.#message('agent', said, content, startedSpeakingAt);
    const open = this.#open;
    if (open !== undefined) {
      open.seq ??= message?.seq;
      open.answer.llmTtft ??= milliseconds(llmNodeTtft);
      open.answer.ttsTtfb ??= milliseconds(ttsNodeTtfb);
    }
    // What a tool says while it works comes before the answer of the model, and belongs to the same turn.
    const turn = llmNodeTtft === undefined ? undefined : this.#closeTurn();
    return message === undefined && turn === undefined ? [] : [{ ...(message && { message }), ...(turn && { turn }) }];
  }

  #closeTurn(): CallTurn | undefined {
    const open = this.#open;
    this.#open = undefined;
    return open?.seq === undefined ? undefined : { seq: open.seq, ...open.answer };
  }

  #message(role: 'agent' | 'user', said: SpokenMessage, content: string, startedAt: number | undefined): CallMessage {
    const { createdAt, interrupted } = said;
    const spokenAt = startedAt === undefined ? createdAt : startedAt * 1000;
    const sources = role === 'agent' ? this.#takeSources(said) : [];
    return {
      seq: this.#number(spokenAt),
      role,
      content,
      spokenAt: new Date(spokenAt),
      interrupted,
      sources: sources.length > 0 ? sources : null,
    };
  }

  /** What the model says before it calls a tool is created before the tool runs and reported after it; what tools say is not the model's. */
  #takeSources({ createdAt, metrics }: SpokenMessage): readonly unknown[] {
    if (metrics.llmNodeTtft === undefined) return [];
    const taken = this.#sources.filter(({ addedAt }) => addedAt <= createdAt);
    this.#sources = this.#sources.filter(({ addedAt }) => addedAt > createdAt);
    return taken.map(({ source }) => source);
  }

  #number(spokenAt: number): number {
    let seq = Math.max(0, Math.round(spokenAt - this.#from));
    while (this.#used.has(seq)) seq += 1;
    this.#used.add(seq);
    return seq;
  }
}

function milliseconds(seconds: number | undefined): number | null {
  return seconds === undefined || !(seconds >= 0) ? null : seconds * 1000;
}
