/** The voice of one provider: it asks for each sentence once, and passes the audio on as it arrives. */
import type { AudioFrame } from '@livekit/rtc-node';

import { toCallFailure, type ProviderError } from '../../../calls/provider-access/index.ts';
import { PcmReader } from './pcm-reader.ts';
import type { SpeechSource } from './speech-source.ts';
import type { SentenceRequest } from './speech-synthesizer.ts';
import { SAMPLE_RATE } from './tts-protocols.ts';

export class TtsProvider {
  readonly provider: string;
  readonly #source: SpeechSource;

  constructor({ provider, source }: { readonly provider: string; readonly source: SpeechSource }) {
    this.provider = provider;
    this.#source = source;
  }

  get model(): string {
    return this.#source.model;
  }

  get sentencesAtOnce(): number {
    return this.#source.atOnce;
  }

  connect(signal: AbortSignal): void {
    this.#source.connect(signal);
  }

  close(): void {
    this.#source.close();
  }

  /** Resolves with the first sound. @throws ProviderError, or the signal's reason */
  async request({ signal, ...sentence }: SentenceRequest): Promise<AsyncIterable<AudioFrame>> {
    const sound = this.#framesOf(this.#source.soundOf(sentence, signal));
    const first = await sound.next();
    if (first.done === true) throw this.#failure('sent no sound: check its model and voice');
    return joined(first.value, sound);
  }

  async *#framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<AudioFrame, void> {
    const reader = new PcmReader(SAMPLE_RATE);
    try {
      for await (const chunk of chunks) yield* reader.push(chunk);
      yield* reader.end();
    } catch (error) {
      if (error instanceof RangeError) throw this.#failure("sent a sound of a kind that can't be played: PCM of 16 bits is");
      throw error;
    }
  }

  #failure(message: string): ProviderError {
    return toCallFailure({ part: 'tts', provider: this.provider }, 'payload', message);
  }
}

async function* joined(first: AudioFrame, rest: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame, void> {
  yield first;
  yield* rest;
}
