/**
 * What text-to-speech of one provider looks like on a WebSocket that serves all answers of a call. Pure: connecting, deadlines and which context an
 * answer has are the same for all, in socket-speech.ts and speech-context.ts.
 */
import type { ProviderErrorKind } from '../../../../calls/provider-access/index.ts';

export type TtsStreamEvent =
  /** Of the sentence that was asked for last. */
  | { readonly type: 'sound'; readonly pcm: Uint8Array }
  /** All sound of that sentence has come. */
  | { readonly type: 'said' }
  /** The provider has closed the context: what was asked for is said. */
  | { readonly type: 'closed' }
  /** @param message completes `cartesia (text to speech) …`; without text from the provider, which may quote what is to be said */
  | { readonly type: 'failed'; readonly kind: ProviderErrorKind; readonly message: string; readonly status?: number };

/** One answer: its sentences, which sound as a whole. */
export interface TtsContext {
  /** Asks for a sentence; the one before has been said. */
  say(text: string): readonly string[];
  /** No more sentences follow; the last one may not be said yet. */
  end(): readonly string[];
  /** No listener is left. */
  cancel(): readonly string[];
  /** @param message parsed JSON that is about this context, or about none */
  read(message: unknown): readonly TtsStreamEvent[];
  /** Whether the sound that has come may be all of the sentence: then a pause ends it. Absent where `said` always comes. */
  mayBeSaid?(): boolean;
}

export interface TtsStreaming {
  readonly model: string;
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** At a time, with those that are closing: `closed` says when one is no more. Absent where there is no limit, and nothing says so. */
  readonly maxContexts?: number;
  /** How long a context takes another sentence after the last one was said, in milliseconds. */
  readonly contextIdleMs: number;
  /** Requests over HTTP can say what comes before a sentence in its answer; a context can't. */
  readonly continuesOverHttp?: true;
  context(id: string): TtsContext;
  /** @returns undefined for a message that is about the whole connection */
  contextOf(message: unknown): string | undefined;
}
