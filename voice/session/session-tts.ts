/**
 * Text to speech as LiveKit's session speaks with it, sentence by sentence: each is requested once it is complete, the next while the one before still
 * plays.
 */
import { AsyncIterableQueue, DEFAULT_API_CONNECT_OPTIONS, shortuuid, tts } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

import type { Clock, Timer } from '../../platform/clock.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import type { Providers } from '../providers/index.ts';
import { SAMPLE_RATE } from '../providers/tts/tts-protocols.ts';
import type { AnswerNormalizer, Sentence, TextNormalizer } from '../text-normalization/index.ts';
import { sessionErrorOf } from './session-error.ts';

/** So long after its first word an answer is heard, if it can be cut between two words by then, in milliseconds. */
const HURRY_MS = 700;
/** Key of `userdata` of the first frame of a sentence. */
const SENTENCE = 'parley.sentence';

/** The sentence that begins with this frame; absent where one goes on. */
export const sentenceOf = ({ userdata }: AudioFrame): Sentence | undefined => userdata[SENTENCE] as Sentence | undefined;

interface Requested {
  readonly sentence: Sentence;
  readonly frames: Promise<AsyncIterable<AudioFrame>>;
  /** Lets the next sentence be requested. */
  readonly release: () => void;
}

export interface SessionTtsOptions {
  readonly inner: Providers['tts'];
  readonly normalizer: TextNormalizer;
  readonly clock: Clock;
}

export class SessionTts extends tts.TTS {
  override label = 'parley.SessionTts';
  readonly #options: SessionTtsOptions;

  constructor(options: SessionTtsOptions) {
    super(SAMPLE_RATE, 1, { streaming: true, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.inner.model;
  }

  override get provider(): string {
    return this.#options.inner.provider;
  }

  /** @throws Error always: a session streams */
  override synthesize(): tts.ChunkedStream {
    throw new Error('speech is synthesised in streams only');
  }

  override stream(): tts.SynthesizeStream {
    return new SessionTtsStream(this, this.#options);
  }

  override close(): Promise<void> {
    return this.#options.inner.close();
  }
}

class SessionTtsStream extends tts.SynthesizeStream {
  override label = 'parley.SessionTtsStream';
  readonly #synthesizer: SessionTtsOptions['inner'];
  readonly #answer: AnswerNormalizer;
  readonly #clock: Clock;
  /** What was written at the end and isn't spoken. */
  #unspoken: Sentence | undefined;

  constructor(owner: SessionTts, { inner, normalizer, clock }: SessionTtsOptions) {
    // The synthesizer itself tries again.
    super(owner, { ...DEFAULT_API_CONNECT_OPTIONS, maxRetry: 0 });
    this.#synthesizer = inner;
    this.#answer = normalizer.answer();
    this.#clock = clock;
  }

  protected override async run(): Promise<void> {
    const [giveUp, complete] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([this.abortSignal, giveUp.signal]);
    const requests = new AsyncIterableQueue<Requested>();
    const sentences = new AsyncIterableQueue<Sentence>();
    const semaphore = new Semaphore(this.#synthesizer.sentencesAtOnce);
    const ask = async (): Promise<void> => {
      const answer = { complete: complete.signal };
      let before = '';
      try {
        for await (const sentence of sentences) {
          this.#unspoken = sentence.spoken === '' ? sentence : undefined;
          if (this.#unspoken !== undefined) continue;
          const release = await semaphore.acquire(giveUp.signal);
          this.markStarted();
          const frames = this.#synthesizer.request({ text: sentence.spoken, answer, before, signal });
          // Handled when its turn comes.
          frames.catch(() => undefined);
          requests.put({ sentence, frames, release });
          before += `${sentence.spoken} `;
        }
      } finally {
        requests.close();
        complete.abort();
      }
    };
    try {
      await Promise.all([this.#read(sentences), ask(), this.#hand(requests)]);
    } catch (error) {
      if (!this.abortSignal.aborted) throw sessionErrorOf(error);
    } finally {
      giveUp.abort();
      complete.abort();
    }
  }

  async #read(sentences: AsyncIterableQueue<Sentence>): Promise<void> {
    const put = (found: readonly Sentence[]): void => {
      for (const sentence of found) sentences.put(sentence);
    };
    let timer: Timer | undefined;
    try {
      for await (const text of this.input) {
        if (this.abortSignal.aborted) return;
        put(typeof text === 'string' ? this.#answer.push(text) : this.#answer.end());
        if (this.#answer.isAwaited) timer ??= this.#clock.after(HURRY_MS, () => put(this.#answer.hurry()));
        else timer?.cancel();
      }
      put(this.#answer.end());
    } finally {
      timer?.cancel();
      sentences.close();
    }
  }

  async #hand(requests: AsyncIterable<Requested>): Promise<void> {
    const id = shortuuid('speech_');
    const put = (frame: AudioFrame, last: boolean, sentence?: Sentence): void => {
      if (sentence !== undefined) frame.userdata[SENTENCE] = sentence;
      if (!this.queue.closed) this.queue.put({ requestId: id, segmentId: id, frame, final: last });
    };
    let rate: number | undefined;
    for await (const { sentence, frames, release } of requests) {
      let begins: Sentence | undefined = sentence;
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
    put(new AudioFrame(silence, rate, 1, silence.length), true, this.#unspoken);
    this.queue.put(tts.SynthesizeStream.END_OF_STREAM);
  }
}
