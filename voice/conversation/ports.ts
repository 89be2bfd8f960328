/** The interfaces through which a conversation uses a model, a voice and ears. */
import type { AnswerEvent } from '../providers/llm/hedged-language-model.ts';
import type { AnswerRequest } from '../providers/llm/history.ts';
import type { ConversationEvent } from './events.ts';

/** A language model, with its attempts and fallbacks. */
export interface AnswerSource {
  /** Gives the events of an answer, and ends with it. @throws ProviderError where there is none */
  answer(request: AnswerRequest, signal: AbortSignal): AsyncIterable<AnswerEvent>;
}

/** The way in which a part of the conversation reports what happens. */
export interface Reports<Event> {
  readonly report: (event: Event) => void;
  /** Reports that the part's provider does not work, after all attempts and fallbacks. */
  readonly fail: (error: unknown) => void;
}

export type VoiceEvent = Extract<ConversationEvent, { readonly type: 'heard' | 'silent' }>;

/** Says speeches one after the other, in the order of their numbers, and reports how far each was heard. */
export interface Voice {
  say(speech: number, text: string): void;
  /** Ends a speech: no more text comes. */
  sayNoMore(speech: number): void;
  /** Silences a speech. It is reported as `silent`, after the part that was heard. */
  cancel(speech: number): void;
  /** Silences all speeches; `resume` goes on from there. */
  pause(): void;
  resume(): void;
}

export type CreateVoice = (reports: Reports<VoiceEvent>) => Voice;

export type EarEvent = Extract<ConversationEvent, { readonly type: 'speaks' | 'lasts' | 'pauses' | 'interim' | 'understood' | 'turnEnds' }>;

export interface Ears {
  /** Resolves when all sound until now is reported. */
  caughtUp(): Promise<void>;
  /** Ends listening. Resolves when the last words are known. */
  finish(): Promise<void>;
  close(): void;
}

export type CreateEars = (reports: Reports<EarEvent>) => Ears;
