/**
 * Speech, sentence by sentence: each is asked for as soon as it is complete, the next one while the one before still comes, and every sound is
 * handed on when it arrives. LiveKit's own adapter for OpenAI's protocol waits for the whole answer first (`bench/voice/tts.ts` compares them).
 */
import { AsyncIterableQueue, DEFAULT_API_CONNECT_OPTIONS, shortuuid, tts, type APIConnectOptions } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

import { partNames, ProviderFailure, type ProviderFetch } from '../../calls/providers/index.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import { ProviderApiError } from './provider-api-error.ts';
import { SentenceCutter } from './sentence-cutter.ts';
import { SoundReader } from './sound-reader.ts';
import type { SpeechProtocol } from './speech-protocols.ts';

export interface SpeakerOptions {
  readonly provider: string;
  readonly protocol: SpeechProtocol;
  /** BCP 47. */
  readonly language: string;
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
}

/** Wait before the second attempt, in milliseconds; after that as the session says. */
const firstRetryMs = 100;
/** How many sentences are on their way at most: the one that is heard and the next. */
const ahead = 2;

export class Speaker extends tts.TTS {
  override label = 'parley.Speaker';
  readonly #options: SpeakerOptions;
  readonly #closing = new AbortController();

  constructor(options: SpeakerOptions) {
    super(options.protocol.sampleRate, 1, { streaming: true, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.protocol.model;
  }

  override get provider(): string {
    return this.#options.provider;
  }

  override synthesize(text: string, connOptions: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS, signal?: AbortSignal): tts.ChunkedStream {
    return new WholeSpeech({ speaker: this, text, connOptions, signal });
  }

  override stream({ connOptions = DEFAULT_API_CONNECT_OPTIONS }: { readonly connOptions?: APIConnectOptions } = {}): tts.SynthesizeStream {
    return new SpeechStream({ speaker: this, language: this.#options.language, connOptions });
  }

  /** Ends what is being spoken. */
  override async close(): Promise<void> {
    this.#closing.abort(new Error('the speaker is closed'));
  }

  /**
   * Asks for a sentence; made again for a passing reason, as long as nothing of it has come.
   * @throws ProviderApiError, or the signal's reason
   */
  async request(text: string, connOptions: APIConnectOptions, signal: AbortSignal): Promise<AsyncIterable<AudioFrame>> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const sound = this.#sound(await this.#send(text, either));
        const first = await sound.next();
        if (first.done === true) throw this.#failure('sent no sound: check its model and voice');
        return joined(first.value, sound);
      } catch (error) {
        either.throwIfAborted();
        const failure = error instanceof ProviderFailure ? new ProviderApiError(error) : error;
        if (!(failure instanceof ProviderApiError) || !failure.retryable || attempt >= connOptions.maxRetry) throw final(failure);
        await sleep(this.#options.clock, attempt === 0 ? firstRetryMs : connOptions.retryIntervalMs, either);
      }
    }
  }

  async #send(text: string, signal: AbortSignal): Promise<Response> {
    const { url, headers, body } = this.#options.protocol.requestFor(text);
    const response = await this.#options.fetch(url, { method: 'POST', headers, body, signal });
    const type = response.headers.get('content-type') ?? '';
    if (this.#options.protocol.answer === 'bytes' && /^(text\/|application\/(json|xml))/i.test(type)) {
      await response.body?.cancel();
      throw this.#failure('sent something that is no sound: check its address');
    }
    return response;
  }

  async *#sound(response: Response): AsyncGenerator<AudioFrame, void> {
    const reader = new SoundReader(this.#options.protocol.sampleRate);
    try {
      for await (const chunk of this.#chunks(response)) yield* reader.push(chunk);
      yield* reader.end();
    } catch (error) {
      if (error instanceof RangeError) throw this.#failure("sent a sound of a kind that can't be played: PCM of 16 bits is");
      throw error;
    }
  }

  async *#chunks(response: Response): AsyncGenerator<Uint8Array, void> {
    const { answer } = this.#options.protocol;
    if (answer === 'bytes') {
      if (response.body !== null) yield* response.body as unknown as AsyncIterable<Uint8Array>;
      return;
    }
    const text = await response.text();
    let sound: unknown;
    try {
      sound = (JSON.parse(text) as Readonly<Record<string, unknown>>)[answer.json];
    } catch {
      sound = undefined;
    }
    if (typeof sound !== 'string') throw this.#failure('sent something that is no sound: check its address');
    yield Buffer.from(sound, 'base64');
  }

  #failure(message: string): ProviderFailure {
    const { provider } = this.#options;
    return new ProviderFailure({ part: 'tts', kind: 'payload', provider, message: `${provider} (${partNames.tts}) ${message}` });
  }
}

/** Nothing above may make it again: the words are gone from its input by then. */
const final = (error: unknown): unknown =>
  error instanceof ProviderApiError ? new ProviderApiError(error.failure, { retryable: false }) : error;

async function* joined(first: AudioFrame, rest: AsyncIterable<AudioFrame>): AsyncGenerator<AudioFrame, void> {
  yield first;
  try {
    yield* rest;
  } catch (error) {
    throw error instanceof ProviderFailure ? new ProviderApiError(error, { retryable: false }) : error;
  }
}

/** A sentence that is on its way. */
interface Asked {
  readonly frames: Promise<AsyncIterable<AudioFrame>>;
}

class SpeechStream extends tts.SynthesizeStream {
  override label = 'parley.SpeechStream';
  readonly #speaker: Speaker;
  readonly #cutter: SentenceCutter;

  constructor(options: { readonly speaker: Speaker; readonly language: string; readonly connOptions: APIConnectOptions }) {
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
class WholeSpeech extends tts.ChunkedStream {
  override label = 'parley.WholeSpeech';
  readonly #speaker: Speaker;
  readonly #connOptions: APIConnectOptions;

  constructor(options: {
    readonly speaker: Speaker;
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
