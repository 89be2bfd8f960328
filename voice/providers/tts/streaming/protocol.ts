/**
 * The protocol of one provider's text-to-speech on a WebSocket that serves all answers of a call. Pure: connecting, deadlines and which
 * context an answer has are the same for all, in socket-speech.ts and speech-context.ts.
 */
import type { ProviderErrorKind } from '../../../../calls/provider-access/index.ts';

export type TtsStreamEvent =
  /** Sound of the sentence that was asked for last. */
  | { readonly type: 'sound'; readonly pcm: Uint8Array }
  /** All sound of that sentence has come. */
  | { readonly type: 'said' }
  /** The provider has closed the context: all sentences that were asked for are said. */
  | { readonly type: 'closed' }
  /**
   * The provider has failed. @param message completes `cartesia (text to speech) …`; without text from the provider, which may quote the
   * agent
   */
  | { readonly type: 'failed'; readonly kind: ProviderErrorKind; readonly message: string; readonly status?: number };

/** The context of one answer, whose sentences sound as a whole. */
export interface TtsContext {
  /** Asks for a sentence; the one before has been said. */
  say(text: string): readonly string[];
  /** Ends the sentences; the last one may not be said yet. */
  end(): readonly string[];
  /** Cancels the context: no listener is left. */
  cancel(): readonly string[];
  /** Reads a message. @param message parsed JSON that is about this context, or about none */
  read(message: unknown): readonly TtsStreamEvent[];
  /** Returns whether the sound that has come may be all of the sentence: then a pause ends it. Absent where `said` always comes. */
  mayBeSaid?(): boolean;
}

export interface TtsStreaming {
  readonly model: string;
  /** Address with `ws:` or `wss:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Most contexts at a time, with those that are closing: `closed` says when one is no more. Absent where there is no limit, and nothing
   * says so.
   */
  readonly maxContexts?: number;
  /** Time in which a context takes another sentence after the last one was said, in milliseconds. */
  readonly contextIdleMs: number;
  /** True if requests over HTTP can say what comes before a sentence in its answer; a context can't. */
  readonly continuesOverHttp?: true;
  context(id: string): TtsContext;
  /** Returns the context of a message; undefined for one that is about the whole connection. */
  contextOf(message: unknown): string | undefined;
}
