/**
 * What streaming speech-to-text of one provider looks like on its WebSocket. Pure: connecting, deadlines, keep-alives and what is sent again after a
 * lost connection are the same for all, in streamed-recognition.ts.
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
  /** All finals of what was sent before the oldest unanswered flush have come. */
  | { readonly type: 'flushed' }
  /** The provider has decided that the user's turn is over. */
  | { readonly type: 'end_of_turn' }
  /** Audio is accepted from now on, beginning with what is not settled; see {@link SttStreaming.confirms}. May come again. */
  | { readonly type: 'ready' }
  /** @param message completes `deepgram (speech to text) …`; without text from the provider, which may quote speech */
  | { readonly type: 'failed'; readonly kind: ProviderErrorKind; readonly message: string };

/** One connection. */
export interface SttStreamSession {
  /** What is sent before any audio. */
  begin?(): readonly SocketMessage[];
  /** @param pcm 16 bits, little-endian, one channel, {@link SttStreaming.sampleRate} */
  audio(pcm: Uint8Array): readonly SocketMessage[];
  /** Asks for the finals of what was sent, for the user has paused; absent where the provider can't be asked. */
  flush?(): readonly SocketMessage[];
  /** Sent after seconds without audio; absent where silence is sent instead. */
  keepAlive?(): readonly SocketMessage[];
  /** No more audio follows. */
  end(): readonly SocketMessage[];
  /** @param message parsed JSON, or text that is none */
  read(message: unknown): readonly SttStreamEvent[];
}

export interface SttStreaming {
  readonly model: string;
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In Hz. */
  readonly sampleRate: number;
  /** Audio waits for the event `ready`. */
  readonly confirms?: true;
  /** Servers of this protocol may lack streaming: then each turn is one request. */
  readonly optional?: true;
  /** All audio since the last flush is one utterance: only what is said is sent, with a little of what came before. */
  readonly speechOnly?: true;
  /** Every flush is answered by `flushed`, also where nothing was said. Otherwise only a flush after an `interim` has to be. */
  readonly answersEveryFlush?: true;
  /** No `flushed` is sent: a final after which no words are under way has all that was said before the last flush. */
  readonly answersByFinal?: true;
  /** A flush is one request with all that was said since the one before; it fails where it isn't answered in time. */
  readonly byRequest?: true;
  session(): SttStreamSession;
}
