/** What a conversation is held with. */
import type { AnswerEvent } from '../providers/llm/hedged-language-model.ts';
import type { AnswerRequest } from '../providers/llm/history.ts';
import type { ConversationEvent } from './events.ts';

/** A language model, with its attempts and fallbacks. */
export interface AnswerSource {
  /** Ends with the answer. @throws ProviderError where there is none */
  answer(request: AnswerRequest, signal: AbortSignal): AsyncIterable<AnswerEvent>;
}

/** Where a part of the conversation reports what happens. */
export interface Reports<Event> {
  readonly report: (event: Event) => void;
  /** Its provider does not work, after all attempts and fallbacks. */
  readonly fail: (error: unknown) => void;
}

export type VoiceEvent = Extract<ConversationEvent, { readonly type: 'heard' | 'silent' }>;

/** Says speeches one after the other, in the order of their numbers, and reports what of them is heard. */
export interface Voice {
  say(speech: number, text: string): void;
  /** Nothing more comes of it. */
  sayNoMore(speech: number): void;
  /** It is to be silent. Reported as `silent`, after what was heard of it. */
  cancel(speech: number): void;
  /** All of it is silent, and goes on from there with `resume`. */
  pause(): void;
  resume(): void;
}

export type CreateVoice = (reports: Reports<VoiceEvent>) => Voice;

export type EarEvent = Extract<ConversationEvent, { readonly type: 'speaks' | 'lasts' | 'pauses' | 'interim' | 'understood' | 'turnEnds' }>;

/** Hear the user, and report it. */
export interface Ears {
  /** Resolves when all that has come by now is reported. */
  caughtUp(): Promise<void>;
  /** Nothing more is listened to. Resolves when the words of what was said are known. */
  finish(): Promise<void>;
  close(): void;
}

export type CreateEars = (reports: Reports<EarEvent>) => Ears;
