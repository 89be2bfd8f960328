/** What a conversation is held with. */
import type { AnswerEvent } from '../providers/llm/hedged-language-model.ts';
import type { AnswerRequest } from '../providers/llm/history.ts';
import type { ConversationEvent } from './events.ts';

/** A language model, with its attempts and fallbacks. */
export interface AnswerSource {
  /** Ends with the answer. @throws ProviderError where there is none */
  answer(request: AnswerRequest, signal: AbortSignal): AsyncIterable<AnswerEvent>;
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

export type CreateVoice = (report: (event: VoiceEvent) => void) => Voice;
