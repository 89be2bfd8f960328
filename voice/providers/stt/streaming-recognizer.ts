/** Recognises speech through any provider and its fallbacks, as streams. */
import type { ProviderOrder } from '../../../calls/fallback/provider-order.ts';
import type { Recognition, RecognitionEvent, SpeechRecognizer } from './recognition.ts';
import { StreamedRecognition, type StreamedRecognitionOptions, type SttProvider } from './streaming/streamed-recognition.ts';

export interface StreamingRecognizerOptions extends Pick<StreamedRecognitionOptions, 'clock' | 'observer'> {
  readonly providers: ProviderOrder<SttProvider>;
}

export class StreamingRecognizer implements SpeechRecognizer {
  readonly #options: StreamingRecognizerOptions;
  readonly #recognitions = new Set<StreamedRecognition>();

  constructor(options: StreamingRecognizerOptions) {
    this.#options = options;
  }

  get provider(): string {
    return this.#options.providers.current.provider;
  }

  get model(): string {
    return this.#options.providers.current.model;
  }

  listen(onEvent: (event: RecognitionEvent) => void): Recognition {
    const onClose = (): void => void this.#recognitions.delete(recognition);
    const recognition = new StreamedRecognition({ ...this.#options, onEvent, onClose });
    this.#recognitions.add(recognition);
    return recognition;
  }

  async close(): Promise<void> {
    for (const recognition of this.#recognitions) recognition.close();
  }
}
