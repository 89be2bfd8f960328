/** Streams speech sentence by sentence: each is requested once it is complete, the next while the one before still plays. */
import { AsyncIterableQueue, shortuuid, tts, voice, type APIConnectOptions } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

import { Semaphore } from '../../../platform/semaphore.ts';
import { sessionErrorOf } from '../session-error.ts';
import { SentenceSplitter } from './sentence-splitter.ts';
import type { Sentence } from './speech-source.ts';

export interface SentenceRequest extends Sentence {
  readonly connOptions: APIConnectOptions;
  readonly signal: AbortSignal;
}

export interface SentenceSynthesizer extends tts.TTS {
  /** That may be requested at a time. */
  readonly sentencesAtOnce: number;
  /** @throws ProviderError, or the signal's reason */
  request(request: SentenceRequest): Promise<AsyncIterable<AudioFrame>>;
}

interface Requested {
  readonly sentence: string;
  readonly frames: Promise<AsyncIterable<AudioFrame>>;
  /** Lets the next sentence be requested. */
  readonly release: () => void;
}

export class TtsStream extends tts.SynthesizeStream {
  override label = 'parley.TtsStream';
  readonly #synthesizer: SentenceSynthesizer;
  readonly #splitter: SentenceSplitter;

  constructor(options: { readonly synthesizer: SentenceSynthesizer; readonly language: string; readonly connOptions: APIConnectOptions }) {
    super(options.synthesizer, options.connOptions);
    this.#synthesizer = options.synthesizer;
    this.#splitter = new SentenceSplitter(options.language);
  }

  protected override async run(): Promise<void> {
    const [giveUp, complete] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([this.abortSignal, giveUp.signal]);
    const requests = new AsyncIterableQueue<Requested>();
    const semaphore = new Semaphore(this.#synthesizer.sentencesAtOnce);
    const ask = async (): Promise<void> => {
      const answer = { complete: complete.signal };
      let before = '';
      try {
        for await (const sentence of this.#sentences()) {
          const release = await semaphore.acquire(giveUp.signal);
          this.markStarted();
          const frames = this.#synthesizer.request({ text: sentence, answer, before, connOptions: this.connOptions, signal });
          // Handled when its turn comes.
          frames.catch(() => undefined);
          requests.put({ sentence, frames, release });
          before += `${sentence} `;
        }
      } finally {
        requests.close();
        complete.abort();
      }
    };
    try {
      await Promise.all([ask(), this.#hand(requests)]);
    } catch (error) {
      if (!this.abortSignal.aborted) throw sessionErrorOf(error);
    } finally {
      giveUp.abort();
      complete.abort();
    }
  }

  async *#sentences(): AsyncGenerator<string, void> {
    for await (const text of this.input) {
      if (this.abortSignal.aborted) return;
      yield* typeof text === 'string' ? this.#splitter.push(text) : this.#splitter.end();
    }
    yield* this.#splitter.end();
  }

  async #hand(requests: AsyncIterable<Requested>): Promise<void> {
    const id = shortuuid('speech_');
    const put = (frame: AudioFrame, last: boolean, sentence?: string): void => {
      const timedTranscripts = sentence === undefined ? [] : [voice.createTimedString({ text: sentence })];
      if (!this.queue.closed) this.queue.put({ requestId: id, segmentId: id, frame, final: last, timedTranscripts });
    };
    let rate: number | undefined;
    for await (const { sentence, frames, release } of requests) {
      let begins: string | undefined = sentence;
      for await (const frame of await frames) {
        if (this.abortSignal.aborted) return;
        rate = frame.sampleRate;
        put(frame, false, begins);
        begins = undefined;
      }
      release();
    }
    if (rate === undefined || this.queue.closed) return;
    // LiveKit wants the last frame marked, and no frame is held back to find out: 10 ms of silence end the stream.
    const silence = new Int16Array(rate / 100);
    put(new AudioFrame(silence, rate, 1, silence.length), true);
    this.queue.put(tts.SynthesizeStream.END_OF_STREAM);
  }
}

/** A complete text in one request: what the session uses where it doesn't stream. */
export class ChunkedTtsStream extends tts.ChunkedStream {
  override label = 'parley.ChunkedTtsStream';
  readonly #synthesizer: SentenceSynthesizer;
  readonly #connOptions: APIConnectOptions;

  constructor(options: {
    readonly synthesizer: SentenceSynthesizer;
    readonly text: string;
    readonly connOptions: APIConnectOptions;
    readonly signal: AbortSignal | undefined;
  }) {
    super(options.text, options.synthesizer, options.connOptions, options.signal);
    this.#synthesizer = options.synthesizer;
    this.#connOptions = options.connOptions;
  }

  protected override async run(): Promise<void> {
    const id = shortuuid('speech_');
    try {
      const alone = { answer: { complete: AbortSignal.abort() }, before: '' };
      const request = { text: this.inputText, ...alone, connOptions: this.#connOptions, signal: this.abortSignal };
      const frames = await this.#synthesizer.request(request);
      for await (const frame of frames) {
        if (this.queue.closed) return;
        this.queue.put({ requestId: id, segmentId: id, frame, final: false });
      }
    } catch (error) {
      if (!this.abortSignal.aborted) throw sessionErrorOf(error);
    }
  }
}
