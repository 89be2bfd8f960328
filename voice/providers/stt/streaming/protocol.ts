/**
 * The protocol of one provider's streaming speech-to-text on its WebSocket. Pure: connecting, deadlines, keep-alives and what is sent
 * again after a lost connection are the same for all, in streamed-recognition.ts.
 */
import type { ProviderErrorKind } from '../../../../calls/provider-access/index.ts';

export type SocketMessage = string | Uint8Array;

export type SttStreamEvent =
  /** The words of the segment under way; they replace those of the event before. */
  | { readonly type: 'interim'; readonly text: string }
  /**
   * The words of a segment, which won't change.
   * @param upToSeconds the end of the segment in the audio that was sent on this connection, or since its last `ready`; absent where only `flushed`
   *   tells
   */
  | { readonly type: 'final'; readonly text: string; readonly upToSeconds?: number }
  /** All finals of the audio before the oldest unanswered flush have come. */
  | { readonly type: 'flushed' }
  /** The provider has decided that the user's turn is over. */
  | { readonly type: 'end_of_turn' }
  /** Audio is accepted from now on, beginning with the first that is not settled; see {@link SttStreaming.confirms}. May come again. */
  | { readonly type: 'ready' }
  /**
   * The provider has failed. @param message completes `deepgram (speech to text) …`; without text from the provider, which may quote
   * speech
   */
  | { readonly type: 'failed'; readonly kind: ProviderErrorKind; readonly message: string };

export interface SttStreamSession {
  /** Returns the messages before any audio. */
  begin?(): readonly SocketMessage[];
  /** Returns the messages for audio. @param pcm 16 bits, little-endian, one channel, {@link SttStreaming.sampleRate} */
  audio(pcm: Uint8Array): readonly SocketMessage[];
  /** Asks for the finals of the audio so far, for the user has paused; absent where the provider can't be asked. */
  flush?(): readonly SocketMessage[];
  /** Returns the messages after seconds without audio; absent where silence is sent instead. */
  keepAlive?(): readonly SocketMessage[];
  end(): readonly SocketMessage[];
  /** Reads a message. @param message parsed JSON, or text that is none */
  read(message: unknown): readonly SttStreamEvent[];
}

export interface SttStreaming {
  readonly model: string;
  /** Address with `ws:` or `wss:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sample rate in Hz. */
  readonly sampleRate: number;
  /** True if audio waits for the event `ready`. */
  readonly confirms?: true;
  /** True if servers of this protocol may lack streaming: then each turn is one request. */
  readonly optional?: true;
  /** True if all audio since the last flush is one utterance: only speech is sent, with a little of the sound before it. */
  readonly speechOnly?: true;
  /** True if every flush is answered by `flushed`, also where nothing was said. Otherwise only a flush after an `interim` has to be. */
  readonly answersEveryFlush?: true;
  /** True if no `flushed` is sent: a final after which no words are under way has all that was said before the last flush. */
  readonly answersByFinal?: true;
  /** True if a flush is one request with all that was said since the one before; it fails where it isn't answered in time. */
  readonly byRequest?: true;
  session(): SttStreamSession;
}
