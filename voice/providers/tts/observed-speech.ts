/** Requests for sentences, as spans and measurements. */
import { capturesContent } from '../../../platform/telemetry/tracing.ts';
import { messagesText, textPart } from '../../../platform/telemetry/gen-ai/content.ts';
import { INPUT_MESSAGES, OUTPUT_TYPE, TEXT_TO_SPEECH } from '../../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelRequestObserver } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { errorTypeOf, type ProviderEndpoint } from '../../calls/provider-access/index.ts';
import type { Sentence, SpeechSource } from './speech-source.ts';

export interface ObservedSpeechOptions {
  readonly source: SpeechSource;
  readonly endpoint: Pick<ProviderEndpoint, 'provider' | 'baseURL'>;
  readonly observer: ModelRequestObserver;
}

/** @returns the source, of which each sentence is seen from its request to its last sound */
export function observedSpeech({ source, endpoint, observer }: ObservedSpeechOptions): SpeechSource {
  async function* soundOf(sentence: Sentence, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const { text } = sentence;
    const observed = observer.begin({
      operation: TEXT_TO_SPEECH,
      provider: endpoint.provider,
      model: source.model,
      address: endpoint.baseURL,
      streams: true,
      attributes: {
        [OUTPUT_TYPE]: 'speech',
        'parley.tts.characters': text.length,
        ...(capturesContent() && { [INPUT_MESSAGES]: messagesText([{ role: 'assistant', parts: [textPart(text)] }]) }),
      },
    });
    // Who is interrupted reads no further, and need not say so.
    const cancel = (): void => observed.end('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const chunk of source.soundOf(sentence, signal)) {
        observed.firstChunk();
        yield chunk;
      }
      observed.end('completed');
    } catch (error) {
      observed.end(signal.aborted ? 'cancelled' : { failure: errorTypeOf(error) });
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      observed.end('cancelled');
    }
  }
  return {
    model: source.model,
    atOnce: source.atOnce,
    connect: (signal) => source.connect(signal),
    soundOf,
    close: () => source.close(),
  };
}
