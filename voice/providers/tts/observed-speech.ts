/** Reports requests for sentences as spans, measurements and usage. */
import { capturesContent } from '../../../platform/telemetry/tracing.ts';
import { messagesText, textPart } from '../../../platform/telemetry/gen-ai/content.ts';
import { INPUT_MESSAGES, OUTPUT_TYPE, TEXT_TO_SPEECH } from '../../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelRequestObserver } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { errorTypeOf, type ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import { withSound, type SpokenSentence, type SpeechSource } from './speech-source.ts';
import { SAMPLE_RATE } from './tts-protocols.ts';

export interface ObservedSpeechOptions {
  readonly source: SpeechSource;
  readonly endpoint: Pick<ProviderEndpoint, 'provider' | 'baseURL'>;
  readonly observer: ModelRequestObserver;
}

/** Observes a source. @returns the source, of which each sentence is seen from its request to its last sound */
export function observedSpeech({ source, endpoint, observer }: ObservedSpeechOptions): SpeechSource {
  async function* soundOf(sentence: SpokenSentence, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    signal.throwIfAborted();
    const { text } = sentence;
    let bytesPerMs: number | undefined;
    let audioMilliseconds = 0;
    const observed = observer.begin({
      operation: TEXT_TO_SPEECH,
      provider: endpoint.provider,
      model: source.model,
      address: endpoint.baseURL,
      streams: true,
      characters: codePointsIn(text),
      attributes: {
        [OUTPUT_TYPE]: 'speech',
        'parley.tts.characters': text.length,
        ...(capturesContent() && { [INPUT_MESSAGES]: messagesText([{ role: 'assistant', parts: [textPart(text)] }]) }),
      },
    });
    // A reader who is interrupted reads no further, and need not say so.
    const answer = () => (bytesPerMs === undefined ? undefined : { audioMilliseconds });
    const cancel = (): void => observed.end('cancelled', answer());
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const chunk of source.soundOf(sentence, signal)) {
        observed.firstChunk();
        bytesPerMs ??= bytesPerMsOf(chunk);
        audioMilliseconds += chunk.length / bytesPerMs;
        yield chunk;
      }
      observed.end('completed', answer());
    } catch (error) {
      observed.end(signal.aborted ? 'cancelled' : { failure: errorTypeOf(error) }, answer());
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel();
    }
  }
  return withSound(source, soundOf);
}

/** Counts code points, not graphemes: providers charge an accent that stands by itself, too. */
const codePointsIn = (text: string): number => Array.from(text).length;

/** Returns the bytes of a millisecond: of 16-bit PCM, unless the head of a WAV file says how much it has for a second. */
function bytesPerMsOf(first: Uint8Array): number {
  const head = Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  const perSecond = head.length >= 32 && head.toString('latin1', 0, 4) === 'RIFF' ? head.readUInt32LE(28) : 0;
  return (perSecond > 0 ? perSecond : SAMPLE_RATE * 2) / 1_000;
}
