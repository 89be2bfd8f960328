/** TTS with fallbacks: each sentence is said by the first provider that has its sound; where that breaks off, the next one says the rest. */
import { DEFAULT_API_CONNECT_OPTIONS, tts, type APIConnectOptions } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';

import { failureOf } from '../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import { firstAnswer } from '../../calls/fallback/first-answer.ts';
import { LATE_MS, type ProviderOrder } from '../../calls/fallback/provider-order.ts';
import type { TextNormalizer } from '../../text-normalization/index.ts';
import { restOf, SpeechRate } from './rest-of-sentence.ts';
import { retrySentence, type TtsAdapter } from './tts-adapter.ts';
import { SAMPLE_RATE } from './tts-protocols.ts';
import { ChunkedTtsStream, TtsStream, type SentenceRequest, type SentenceSynthesizer } from './tts-stream.ts';

export interface FallbackTtsOptions {
  readonly voices: ProviderOrder<TtsAdapter>;
  readonly normalizer: TextNormalizer;
  readonly clock: Clock;
}

interface Spoken {
  readonly provider: TtsAdapter;
  readonly answer: AsyncIterable<AudioFrame>;
}

interface Broken {
  readonly provider: TtsAdapter;
  readonly failure: unknown;
}

export class FallbackTts extends tts.TTS implements SentenceSynthesizer {
  override label = 'parley.FallbackTts';
  readonly #options: FallbackTtsOptions;
  readonly #rates = new Map<TtsAdapter, SpeechRate>();

  constructor(options: FallbackTtsOptions) {
    super(SAMPLE_RATE, 1, { streaming: true, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.voices.current.model;
  }

  override get provider(): string {
    return this.#options.voices.current.provider;
  }

  override synthesize(text: string, connOptions: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS, signal?: AbortSignal): tts.ChunkedStream {
    return new ChunkedTtsStream({ synthesizer: this, text, connOptions, signal });
  }

  override stream({ connOptions = DEFAULT_API_CONNECT_OPTIONS }: { readonly connOptions?: APIConnectOptions } = {}): tts.SynthesizeStream {
    const { normalizer, clock } = this.#options;
    return new TtsStream({ synthesizer: this, normalizer, clock, connOptions });
  }

  override async close(): Promise<void> {
    await Promise.all(this.#options.voices.all.map((voice) => voice.close()));
  }

  /** What all of them take, for each may take over in the middle of an answer. */
  get sentencesAtOnce(): number {
    return Math.min(...this.#options.voices.all.map((voice) => voice.sentencesAtOnce));
  }

  async request(request: SentenceRequest): Promise<AsyncIterable<AudioFrame>> {
    return this.#joined(request, await this.#first(request, []));
  }

  /** Retries transient failures of the last that is left. @param broken in this sentence already, the last one now */
  async #first(request: SentenceRequest, broken: readonly Broken[]): Promise<Spoken> {
    const { voices, clock } = this.#options;
    const { connOptions, signal } = request;
    // Whether to ask again is decided here.
    const ask = (voice: TtsAdapter, either: AbortSignal): Promise<AsyncIterable<AudioFrame>> =>
      voice.request({ ...request, connOptions: { ...connOptions, maxRetry: 0 }, signal: either });
    const { provider, answer, passed } = await retrySentence({ clock, signal, connOptions }, () =>
      firstAnswer({ providers: this.#left(broken), ask, lateMs: LATE_MS, clock, signal }),
    );
    voices.answered(provider, [...broken.slice(-1), ...passed]);
    return { provider, answer };
  }

  #left(broken: readonly Broken[]): readonly TtsAdapter[] {
    return this.#options.voices.order.filter((voice) => !broken.some(({ provider }) => provider === voice));
  }

  async *#joined(request: SentenceRequest, first: Spoken): AsyncGenerator<AudioFrame, void> {
    let { text, before } = request;
    let { provider, answer } = first;
    const broken: Broken[] = [];
    for (;;) {
      const rate = this.#rateOf(provider);
      const last = this.#left(broken).length === 1;
      let seconds = 0;
      try {
        for await (const frame of last ? answer : this.#unstalled(provider, answer)) {
          seconds += frame.samplesPerChannel / frame.sampleRate;
          yield frame;
        }
        rate.said(text, seconds);
        return;
      } catch (failure) {
        request.signal.throwIfAborted();
        if (last) throw failure;
        broken.push({ provider, failure });
        const rest = restOf(text, seconds, rate.charactersPerSecond);
        if (rest === '') return;
        before += text.slice(0, text.lastIndexOf(rest));
        text = rest;
        ({ provider, answer } = await this.#first({ ...request, text, before }, broken));
      }
    }
  }

  /** @throws ProviderError where nothing more comes for as long as another one would not be waited for */
  async *#unstalled(voice: TtsAdapter, frames: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame, void> {
    const iterator = frames[Symbol.asyncIterator]();
    for (;;) {
      const read = await withTimeout(this.#options.clock, LATE_MS, iterator.next());
      if (read === undefined) {
        void iterator.return?.();
        const message = `sent nothing more for ${LATE_MS} ms in the middle of a sentence`;
        throw failureOf({ part: 'tts', provider: voice.provider }, 'connection_lost', message, { slow: true });
      }
      if (read.done === true) return;
      yield read.value;
    }
  }

  #rateOf(voice: TtsAdapter): SpeechRate {
    const rate = this.#rates.get(voice) ?? new SpeechRate();
    this.#rates.set(voice, rate);
    return rate;
  }
}
