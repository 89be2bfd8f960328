/**
 * TTS of any provider, sentence by sentence, with the audio passed on as it arrives. LiveKit's plugin for OpenAI's protocol waits for the whole
 * response (`test/bench/voice/tts.ts` compares them).
 */
import { DEFAULT_API_CONNECT_OPTIONS, tts, type APIConnectOptions } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';

import { failureOf, type ProviderError } from '../../calls/provider-access/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { TextNormalizer } from '../../text-normalization/index.ts';
import { withRetries, type RetryOptions } from '../provider-errors.ts';
import { PcmReader } from './pcm-reader.ts';
import type { SpeechSource } from './speech-source.ts';
import { SAMPLE_RATE } from './tts-protocols.ts';
import { ChunkedTtsStream, TtsStream, type SentenceRequest, type SentenceSynthesizer } from './tts-stream.ts';

export interface TtsAdapterOptions {
  readonly provider: string;
  readonly source: SpeechSource;
  readonly normalizer: TextNormalizer;
  readonly clock: Clock;
}

/** Before the second attempt, in milliseconds; later ones wait as the session says. */
const FIRST_RETRY_MS = 100;

interface SentenceRetries extends Pick<RetryOptions, 'clock' | 'signal'> {
  readonly connOptions: APIConnectOptions;
}

/** The session has consumed the text by the time that an attempt fails: only this retries. */
export function retrySentence<T>({ connOptions, ...options }: SentenceRetries, work: () => Promise<T>): Promise<T> {
  const pauseMs = (failures: number): number | undefined => {
    if (failures >= connOptions.maxRetry) return undefined;
    return failures === 0 ? FIRST_RETRY_MS : connOptions.retryIntervalMs;
  };
  return withRetries({ ...options, pauseMs }, work);
}

export class TtsAdapter extends tts.TTS implements SentenceSynthesizer {
  override label = 'parley.TtsAdapter';
  readonly #options: TtsAdapterOptions;
  readonly #closing = new AbortController();

  constructor(options: TtsAdapterOptions) {
    super(SAMPLE_RATE, 1, { streaming: true, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.source.model;
  }

  override get provider(): string {
    return this.#options.provider;
  }

  get sentencesAtOnce(): number {
    return this.#options.source.atOnce;
  }

  override synthesize(text: string, connOptions: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS, signal?: AbortSignal): tts.ChunkedStream {
    return new ChunkedTtsStream({ synthesizer: this, text, connOptions, signal });
  }

  override stream({ connOptions = DEFAULT_API_CONNECT_OPTIONS }: { readonly connOptions?: APIConnectOptions } = {}): tts.SynthesizeStream {
    const { normalizer, clock } = this.#options;
    return new TtsStream({ synthesizer: this, normalizer, clock, connOptions });
  }

  connect(signal: AbortSignal): void {
    this.#options.source.connect(signal);
  }

  override async close(): Promise<void> {
    this.#closing.abort(new Error('the TTS adapter is closed'));
    this.#options.source.close();
  }

  /** Retries transient failures, but only until the first audio has arrived. */
  async request({ connOptions, signal, ...sentence }: SentenceRequest): Promise<AsyncIterable<AudioFrame>> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    return retrySentence({ clock: this.#options.clock, signal: either, connOptions }, async () => {
      const sound = this.#framesOf(this.#options.source.soundOf(sentence, either));
      const first = await sound.next();
      if (first.done === true) throw this.#failure('sent no sound: check its model and voice');
      return joined(first.value, sound);
    });
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
    return failureOf({ part: 'tts', provider: this.provider }, 'payload', message);
  }
}

async function* joined(first: AudioFrame, rest: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame, void> {
  yield first;
  yield* rest;
}
