/** What is said, sentence by sentence: each is asked for as soon as it is complete, the next one while the one before still comes. */
import { AsyncIterableQueue, shortuuid, tts, type APIConnectOptions } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

import { SentenceCutter } from './sentence-cutter.ts';

/** What turns a sentence into sound. */
export interface SpeaksSentences extends tts.TTS {
  /** @throws ProviderApiError, or the signal's reason */
  request(text: string, connOptions: APIConnectOptions, signal: AbortSignal): Promise<AsyncIterable<AudioFrame>>;
}

/** How many sentences are on their way at most: the one that is heard and the next. */
const ahead = 2;

/** A sentence that is on its way. */
interface Asked {
  readonly frames: Promise<AsyncIterable<AudioFrame>>;
}

export class SpeechStream extends tts.SynthesizeStream {
  override label = 'parley.SpeechStream';
  readonly #speaker: SpeaksSentences;
  readonly #cutter: SentenceCutter;

  constructor(options: { readonly speaker: SpeaksSentences; readonly language: string; readonly connOptions: APIConnectOptions }) {
    super(options.speaker, options.connOptions);
    this.#speaker = options.speaker;
    this.#cutter = new SentenceCutter(options.language);
  }

  protected override async run(): Promise<void> {
    const giveUp = new AbortController();
    const requests = new AsyncIterableQueue<Asked>();
    const slots = new Slots(ahead);
    const ask = async (): Promise<void> => {
      try {
        for await (const sentence of this.#sentences()) {
          await slots.take();
          if (giveUp.signal.aborted) return;
          this.markStarted();
          const frames = this.#speaker.request(sentence, this.connOptions, AbortSignal.any([this.abortSignal, giveUp.signal]));
          // It is looked at when its turn comes.
          frames.catch(() => undefined);
          requests.put({ frames });
        }
      } finally {
        requests.close();
      }
    };
    try {
      await Promise.all([ask(), this.#hand(requests, slots)]);
    } catch (error) {
      if (!this.abortSignal.aborted) throw error;
    } finally {
      giveUp.abort();
      slots.give();
    }
  }

  async *#sentences(): AsyncGenerator<string, void> {
    for await (const text of this.input) {
      if (this.abortSignal.aborted) return;
      yield* typeof text === 'string' ? this.#cutter.push(text) : this.#cutter.end();
    }
    yield* this.#cutter.end();
  }

  async #hand(requests: AsyncIterable<Asked>, slots: Slots): Promise<void> {
    const id = shortuuid('speech_');
    const put = (frame: AudioFrame, last: boolean): void => {
      if (!this.queue.closed) this.queue.put({ requestId: id, segmentId: id, frame, final: last });
    };
    let rate: number | undefined;
    for await (const { frames } of requests) {
      for await (const frame of await frames) {
        if (this.abortSignal.aborted) return;
        rate = frame.sampleRate;
        put(frame, false);
      }
      slots.give();
    }
    if (rate === undefined || this.queue.closed) return;
    // The last frame has to say so, and none is held back until it is known to be the last: a moment of silence says it.
    const silence = new Int16Array(rate / 100);
    put(new AudioFrame(silence, rate, 1, silence.length), true);
    this.queue.put(tts.SynthesizeStream.END_OF_STREAM);
  }
}

/** So many at a time. */
class Slots {
  #free: number;
  #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** A text that is complete, in one request: what the session uses where it doesn't stream. */
export class WholeSpeech extends tts.ChunkedStream {
  override label = 'parley.WholeSpeech';
  readonly #speaker: SpeaksSentences;
  readonly #connOptions: APIConnectOptions;

  constructor(options: {
    readonly speaker: SpeaksSentences;
    readonly text: string;
    readonly connOptions: APIConnectOptions;
    readonly signal: AbortSignal | undefined;
  }) {
    super(options.text, options.speaker, options.connOptions, options.signal);
    this.#speaker = options.speaker;
    this.#connOptions = options.connOptions;
  }

  protected override async run(): Promise<void> {
    const id = shortuuid('speech_');
    try {
      const frames = await this.#speaker.request(this.inputText, this.#connOptions, this.abortSignal);
      for await (const frame of frames) {
        if (this.queue.closed) return;
        this.queue.put({ requestId: id, segmentId: id, frame, final: false });
      }
    } catch (error) {
      if (!this.abortSignal.aborted) throw error;
    }
  }
}
