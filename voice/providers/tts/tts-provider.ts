/** The voice of one provider: it asks for each sentence once, and passes the audio on as it arrives. */
import { AudioFrame } from '@livekit/rtc-node';

import { toCallFailure, type ProviderError } from '../../../calls/provider-access/index.ts';
import { PcmReader } from './pcm-reader.ts';
import type { SpeechSource } from './speech-source.ts';
import type { SentenceRequest } from './speech-synthesizer.ts';
import { SAMPLE_RATE } from './tts-protocols.ts';
import { atVolume } from './volume.ts';

export class TtsProvider {
  readonly provider: string;
  readonly #source: SpeechSource;
  readonly #volume: number;

  /** @param options.volume 1, the default, is as loud as the provider speaks */
  constructor({ provider, source, volume = 1 }: { readonly provider: string; readonly source: SpeechSource; readonly volume?: number }) {
    this.provider = provider;
    this.#source = source;
    this.#volume = volume;
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
      for await (const chunk of chunks) yield* reader.push(chunk).map((frame) => this.#loud(frame));
      yield* reader.end().map((frame) => this.#loud(frame));
    } catch (error) {
      if (error instanceof RangeError) throw this.#failure("sent a sound of a kind that can't be played: PCM of 16 bits is");
      throw error;
    }
  }

  #loud(frame: AudioFrame): AudioFrame {
    const { data, sampleRate, channels, samplesPerChannel } = frame;
    return this.#volume === 1 ? frame : new AudioFrame(atVolume(data, this.#volume), sampleRate, channels, samplesPerChannel);
  }

  #failure(message: string): ProviderError {
    return toCallFailure({ part: 'tts', provider: this.provider }, 'payload', message);
  }
}

async function* joined(first: AudioFrame, rest: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame, void> {
  yield first;
  yield* rest;
}
