/** Text to speech, sentence by sentence: each is said by the first provider that has its sound; where that breaks off, the next one says the rest. */
import type { AudioFrame } from '@livekit/rtc-node';

import { toCallFailure } from '../../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import { retry } from '../../../platform/retry.ts';
import { firstAnswer } from '../../../calls/fallback/first-answer.ts';
import { LATE_MS, type ProviderOrder } from '../../../calls/fallback/provider-order.ts';
import { afterTransient } from '../provider-errors.ts';
import { restOf, SpeechRate } from './rest-of-sentence.ts';
import type { SentenceRequest, SpeechSynthesizer } from './speech-synthesizer.ts';
import type { TtsProvider } from './tts-provider.ts';

/** Pauses before the second attempt and the third, in milliseconds: short, for the user waits. */
const RETRY_DELAYS_MS = [100, 500] as const;

export interface SentenceSynthesizerOptions {
  readonly voices: ProviderOrder<TtsProvider>;
  readonly clock: Clock;
}

interface Spoken {
  readonly provider: TtsProvider;
  readonly answer: AsyncIterable<AudioFrame>;
}

interface Broken {
  readonly provider: TtsProvider;
  readonly failure: unknown;
}

export class SentenceSynthesizer implements SpeechSynthesizer {
  readonly #options: SentenceSynthesizerOptions;
  readonly #closing = new AbortController();
  readonly #rates = new Map<TtsProvider, SpeechRate>();

  constructor(options: SentenceSynthesizerOptions) {
    this.#options = options;
  }

  get model(): string {
    return this.#options.voices.current.model;
  }

  get provider(): string {
    return this.#options.voices.current.provider;
  }

  connect(signal: AbortSignal): void {
    this.#options.voices.current.connect(signal);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the synthesizer is closed'));
    for (const voice of this.#options.voices.all) voice.close();
  }

  /** Most sentences at once that all voices take, for each may take over in the middle of an answer. */
  get sentencesAtOnce(): number {
    return Math.min(...this.#options.voices.all.map((voice) => voice.sentencesAtOnce));
  }

  async request({ signal, ...sentence }: SentenceRequest): Promise<AsyncIterable<AudioFrame>> {
    const request = { ...sentence, signal: AbortSignal.any([signal, this.#closing.signal]) };
    return this.#joined(request, await this.#first(request, []));
  }

  /**
   * Returns the first sound. Retries transient failures of the last voice that is left. @param broken voices that broke off in this
   * sentence, the latest at the end
   */
  async #first(request: SentenceRequest, broken: readonly Broken[]): Promise<Spoken> {
    const { voices, clock } = this.#options;
    const { signal } = request;
    const ask = (voice: TtsProvider, either: AbortSignal): Promise<AsyncIterable<AudioFrame>> =>
      voice.request({ ...request, signal: either });
    const attempt = () => firstAnswer({ providers: this.#left(broken), ask, lateMs: LATE_MS, clock, signal });
    const delayMs = afterTransient((failures) => RETRY_DELAYS_MS[failures - 1]);
    const { provider, answer, passed } = await retry(attempt, { delayMs, clock, signal });
    voices.answered(provider, [...broken.slice(-1), ...passed]);
    return { provider, answer };
  }

  #left(broken: readonly Broken[]): readonly TtsProvider[] {
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

  /** Passes frames on. @throws ProviderError where nothing more comes for as long as another voice would not be waited for */
  async *#unstalled(voice: TtsProvider, frames: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame, void> {
    const iterator = frames[Symbol.asyncIterator]();
    for (;;) {
      const read = await withTimeout(this.#options.clock, LATE_MS, iterator.next());
      if (read === undefined) {
        void iterator.return?.();
        const message = `sent nothing more for ${LATE_MS} ms in the middle of a sentence`;
        throw toCallFailure({ part: 'tts', provider: voice.provider }, 'connection_lost', message, { slow: true });
      }
      if (read.done === true) return;
      yield read.value;
    }
  }

  #rateOf(voice: TtsProvider): SpeechRate {
    const rate = this.#rates.get(voice) ?? new SpeechRate();
    this.#rates.set(voice, rate);
    return rate;
  }
}
