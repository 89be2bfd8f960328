/**
 * One stream of speech to a provider, for the length of a call. What no final transcript covers yet is kept: when the connection is lost, even in the
 * middle of a word, the next one begins with it, whether it is to the same provider or to a fallback.
 */
import { normalizeLanguage, stt, type APIConnectOptions } from '@livekit/agents';
import { AudioFrame, AudioResampler } from '@livekit/rtc-node';

import type { HeardMeter } from '../../../calls/usage/heard-meter.ts';
import type { Clock, Timer } from '../../../../platform/clock.ts';
import { unobserved, type ModelRequestObserver } from '../../../../platform/telemetry/gen-ai/model-requests.ts';
import {
  errorTypeOf,
  failureOf,
  ProviderError,
  type ProviderConnect,
  type ProviderErrorKind,
  type ProviderSocket,
} from '../../../calls/provider-access/index.ts';
import { parseMessage } from '../../protocol-support.ts';
import { LATE_MS, type Named, type ProviderOrder } from '../../../calls/fallback/provider-order.ts';
import { isTransient, withRetries } from '../../provider-errors.ts';
import { sessionErrorOf } from '../../session-error.ts';
import { ObservedUtterances, type RecognizerName } from '../observed-utterances.ts';
import { AudioBacklog } from './audio-backlog.ts';
import { InterimWords } from './interim-words.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

export interface Recognizer extends Named {
  readonly streaming: SttStreaming;
  readonly connect: ProviderConnect;
  /** Absent where the connection counts by itself. */
  readonly counted?: HeardMeter | undefined;
}

export interface SttStreamOptions {
  readonly observer?: ModelRequestObserver | undefined;
  readonly recognizers: Pick<ProviderOrder<Recognizer>, 'all' | 'order' | 'answered'>;
  /** BCP 47. */
  readonly language: string;
  readonly clock: Clock;
  readonly onClose: () => void;
}

const { SpeechEventType } = stt;
const BYTES_PER_SAMPLE = 2;
/** How much audio is sent at once: less costs more than it saves. */
const CHUNK_MS = 50;
/** Audio that no final transcript covers, in seconds: longer than anybody speaks without a pause. */
const BACKLOG_SECONDS = 60;
/** How long after a pause its finals may come, in milliseconds. */
const FLUSH_TIMEOUT_MS = 5_000;
/** A final that answers a flush may end after it by less than this, in milliseconds. */
const FLUSH_MARGIN_MS = 100;
/** How long a provider may take to say that it accepts audio, in milliseconds. */
const READY_TIMEOUT_MS = 8_000;
/** Not every noise is answered; so many in a row without a word of the provider are a connection that is dead. */
const SILENT_PAUSES = 2;
/** Providers end connections without audio after ten seconds or more. */
const KEEP_ALIVE_MS = 4_000;
/** Of the audio before speech was noticed, in milliseconds: it has the first syllable. */
const BEFORE_SPEECH_MS = 500;
/** Of a process, in milliseconds: the sound of a stall is here at once, long before the VAD has read it. */
const LONGEST_STALL_MS = 10_000;
/** Before connecting again, in milliseconds: a provider that restarts may take seconds, and what is said meanwhile waits. */
const RETRY_DELAYS_MS = [100, 500, 1_000, 2_000, 4_000] as const;
/** A connection that has lasted this long did work: its end is no failure, for providers limit how long one lasts. In milliseconds. */
const LASTED_MS = 30_000;

interface Connection {
  readonly socket: ProviderSocket;
  readonly session: SttStreamSession;
  /** As the provider wants it. */
  readonly convert: (pcm: Uint8Array) => Uint8Array;
  /** Position of the first byte that was sent on it, or since its last `ready`. */
  readonly from: number;
}

export class SttStream extends stt.SpeechStream {
  override label = 'parley.SttStream';
  readonly #options: SttStreamOptions;
  readonly #backlog: AudioBacklog;
  /** Of the first recognizer, in Hz; others get it converted. */
  readonly #sampleRate: number;
  readonly #bytesPerSecond: number;
  #recognizer: Recognizer;
  readonly #observed: ObservedUtterances;
  /** In this round, and with what: each is tried once before the next round. */
  readonly #failed = new Map<Recognizer, unknown>();
  /** Silence, and what the VAD has not read yet: only the end is sent once somebody speaks. */
  readonly #unsent: AudioBacklog;
  #speaking = false;
  /** For each pause that waits behind the audio before it: whether the user speaks again after it. */
  readonly #pauses: boolean[] = [];
  #connection: Connection | undefined;
  /** Positions of the flushes that are not answered, the oldest first. */
  #flushes: number[] = [];
  #deadline: Timer | undefined;
  /** When the last flush was sent, by the monotonic clock. */
  #flushedAt = 0;
  /** How long each took to answer its last flush, in milliseconds. */
  readonly #answerMs = new Map<Recognizer, number>();
  #keepAlive: Timer | undefined;
  readonly #words = new InterimWords();
  #inputEnded = false;
  /** Since the last final. */
  #failures = 0;
  /** Pauses in a row after which nothing at all was heard of the provider. */
  #silentPauses = 0;
  /** Whether the provider has said anything since the last pause: not every one answers a flush by name. */
  #heard = false;

  constructor(owner: stt.STT, options: SttStreamOptions, connOptions?: APIConnectOptions) {
    const [first] = options.recognizers.all;
    super(owner, first!.streaming.sampleRate, connOptions);
    this.#options = options;
    this.#observed = new ObservedUtterances({ observer: options.observer ?? unobserved, now: () => options.clock.now() });
    this.#recognizer = first!;
    this.#sampleRate = first!.streaming.sampleRate;
    this.#bytesPerSecond = this.#sampleRate * BYTES_PER_SAMPLE;
    this.#backlog = new AudioBacklog({ maxBytes: BACKLOG_SECONDS * this.#bytesPerSecond });
    this.#unsent = new AudioBacklog({ maxBytes: this.#bytesIn(LONGEST_STALL_MS) });
    void this.#readInput();
  }

  /** Connects, sends and hears until the input has ended. @throws an error that LiveKit does not retry once more */
  protected override async run(): Promise<void> {
    const { clock } = this.#options;
    const retries = { clock, signal: this.abortSignal, pauseMs: () => RETRY_DELAYS_MS[this.#failures++] };
    await withRetries(retries, () => this.#serveRound()).catch((error: unknown) => {
      throw sessionErrorOf(error);
    });
  }

  /** One after the other, without a pause. @throws what may be retried, of what they failed with */
  async #serveRound(): Promise<void> {
    for (;;) {
      const left = this.#options.recognizers.order.filter((each) => !this.#failed.has(each));
      this.#recognizer = left[0]!;
      try {
        return await this.#serve({ last: left.length === 1 });
      } catch (error) {
        this.abortSignal.throwIfAborted();
        this.#observed.failed(errorTypeOf(error));
        this.#failed.set(this.#recognizer, error);
        if (this.#failed.size < this.#options.recognizers.all.length) continue;
        const failures = [...this.#failed.values()];
        this.#failed.clear();
        throw failures.find((failure) => failure instanceof ProviderError && isTransient(failure)) ?? failures[0];
      }
    }
  }

  /** Audio counts from now on, for protocols that take speech only. @param unreadMs how far the VAD is behind it */
  userSpeaks(unreadMs = 0): void {
    if (this.#pauses.length > 0) this.#pauses[this.#pauses.length - 1] = true;
    if (this.#speaking) return;
    this.#speaking = true;
    this.#observed.speaks();
    for (const chunk of this.#takeUnsent(unreadMs)) this.#send(chunk);
  }

  #takeUnsent(unreadMs = 0): readonly Uint8Array[] {
    this.#unsent.settle(this.#unsent.end - this.#bytesIn(BEFORE_SPEECH_MS + unreadMs));
    const { chunks, end } = this.#unsent;
    this.#unsent.settle(end);
    return chunks;
  }

  /** Words came that may still change, or are due. */
  get recognizes(): boolean {
    if (this.#words.some) return true;
    return this.#recognizer.streaming.answersEveryFlush === true && this.#pauses.length + this.#flushes.length > 0;
  }

  /** Asks for the finals of what was pushed so far. */
  userPaused(): void {
    if (this.closed || this.input.closed) return;
    this.#pauses.push(false);
    this.flush();
  }

  override close(): void {
    this.#observed.closed();
    this.#disconnect();
    this.#options.onClose();
    super.close();
  }

  /** @param options.last no other one is left in this round: it is given all the time that there is */
  async #serve({ last }: { readonly last: boolean }): Promise<void> {
    const { clock } = this.#options;
    const { streaming, connect } = this.#recognizer;
    const readyMs = last ? READY_TIMEOUT_MS : LATE_MS;
    const limit = new AbortController();
    const timer = clock.after(readyMs, () => {
      if (this.#connection === undefined) limit.abort();
    });
    const late = (): ProviderError => this.#failure('unreachable', `did not accept audio within ${readyMs} ms`, { slow: true });
    let opened: number | undefined;
    let socket: ProviderSocket | undefined;
    try {
      const signal = AbortSignal.any([this.abortSignal, limit.signal]);
      socket = await connect(streaming.url, { headers: streaming.headers, signal });
      limit.signal.throwIfAborted();
      limit.signal.addEventListener('abort', () => socket?.close());
      opened = clock.monotonic();
      const session = streaming.session();
      const connection = { socket, session, convert: this.#converter(streaming.sampleRate) };
      for (const message of session.begin?.() ?? []) socket.send(message);
      if (streaming.confirms !== true) this.#connected(connection);
      for await (const message of socket.messages()) {
        for (const event of session.read(parseMessage(message))) {
          if (event.type === 'ready') this.#connected(connection);
          else this.#take(event);
        }
        if (this.#inputEnded && session.flush !== undefined && this.#flushes.length === 0) return;
      }
    } catch (error) {
      throw limit.signal.aborted && !this.abortSignal.aborted ? late() : error;
    } finally {
      timer.cancel();
      socket?.close();
      this.#disconnect();
      if (opened !== undefined && clock.monotonic() - opened > LASTED_MS) this.#worked();
    }
    if (limit.signal.aborted) throw late();
    if (!this.#inputEnded || (!last && this.#flushes.length > 0))
      throw this.#failure('connection_lost', 'closed the connection in the middle of a call');
  }

  /** What failed before counts no more. */
  #worked(): void {
    this.#failures = 0;
    this.#failed.clear();
  }

  #converter(sampleRate: number): Connection['convert'] {
    if (sampleRate === this.#sampleRate) return (pcm) => pcm;
    const resampler = new AudioResampler(this.#sampleRate, sampleRate);
    return (pcm) => {
      const samples = new Int16Array(new Uint8Array(pcm).buffer);
      const frames = resampler.push(new AudioFrame(samples, this.#sampleRate, 1, samples.length));
      return Buffer.concat(frames.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
    };
  }

  /** Begins with what the last connection, or the session before `ready`, left unanswered. */
  #connected(connection: Omit<Connection, 'from'>): void {
    const { socket, session, convert } = connection;
    const passed = [...this.#failed].map(([provider, failure]) => ({ provider, failure }));
    this.#options.recognizers.answered(this.#recognizer, passed);
    if (this.#recognizer.streaming.speechOnly !== true) for (const chunk of this.#takeUnsent()) this.#backlog.push(chunk);
    this.#connection = { ...connection, from: this.#backlog.from };
    this.#recognizer.counted?.request();
    // Asked where the last pause was: what the user has begun to say since is not cut.
    let pause = this.#flushes.at(-1) ?? Infinity;
    this.#flushes = [];
    let { from: position, chunks } = this.#backlog;
    const askAt = (end: number): void => {
      if (end < pause) return;
      pause = Infinity;
      this.#flush(end);
    };
    askAt(position);
    for (const chunk of chunks) {
      this.#count(chunk);
      for (const message of session.audio(convert(chunk))) socket.send(message);
      askAt((position += chunk.length));
    }
    if (this.#inputEnded) this.#end();
    else this.#keepAliveLater();
  }

  #disconnect(): void {
    this.#keepAlive?.cancel();
    this.#deadline?.cancel();
    this.#connection = undefined;
  }

  async #readInput(): Promise<void> {
    const chunkBytes = this.#bytesIn(CHUNK_MS);
    let pending = Buffer.alloc(0);
    const send = (atLeast: number): void => {
      if (pending.length < Math.max(1, atLeast)) return;
      this.#send(pending);
      pending = Buffer.alloc(0);
    };
    for await (const frame of this.input) {
      if (typeof frame === 'symbol') {
        send(0);
        this.#flush();
        this.#speaking = this.#pauses.shift() === true;
        continue;
      }
      const { buffer, byteOffset, byteLength } = frame.data;
      pending = Buffer.concat([pending, new Uint8Array(buffer, byteOffset, byteLength)]);
      send(chunkBytes);
    }
    send(0);
    this.#inputEnded = true;
    this.#flush();
    this.#end();
  }

  /** Providers answer what is left, and close. */
  #end(): void {
    this.#keepAlive?.cancel();
    this.#sendMessages(this.#connection?.session.end());
  }

  #send(pcm: Uint8Array): void {
    if (this.#recognizer.streaming.speechOnly === true && !this.#speaking) return this.#unsent.push(pcm);
    this.#backlog.push(pcm);
    if (this.#connection !== undefined) this.#count(pcm);
    this.#sendMessages(this.#connection?.session.audio(this.#connection.convert(pcm)));
    this.#keepAliveLater();
  }

  #count(pcm: Uint8Array): void {
    this.#recognizer.counted?.audio((pcm.length / this.#bytesPerSecond) * 1_000);
  }

  #sendMessages(messages: readonly (string | Uint8Array)[] = []): void {
    for (const message of messages) this.#connection?.socket.send(message);
  }

  #flush(position = this.#backlog.end): void {
    const { streaming } = this.#recognizer;
    const messages = this.#connection?.session.flush?.();
    const canBeAsked = this.#connection === undefined || messages !== undefined;
    this.#observed.paused(this.#by);
    this.#heard = false;
    if (canBeAsked) {
      this.#flushes.push(position);
      this.#words.asked();
    }
    this.#sendMessages(messages);
    this.#flushedAt = this.#options.clock.monotonic();
    // Where all are slow, the next one would be no faster.
    const lateMs = Math.min(FLUSH_TIMEOUT_MS, Math.max(LATE_MS, 2 * (this.#answerMs.get(this.#recognizer) ?? 0)));
    const others = this.#failed.size + 1 < this.#options.recognizers.all.length;
    // Words that came later belong to the next pause; after the last audio there is nothing more to wait for.
    const waits = (): boolean => canBeAsked && (this.#inputEnded || streaming.answersEveryFlush === true || this.#words.cameBy(position));
    // The next connection is asked again, with the same audio.
    const giveUp = (): void => this.#connection?.socket.close();
    const after = (ms: number, then: () => void): void => {
      this.#deadline?.cancel();
      this.#deadline = this.#options.clock.after(ms, then);
    };
    const atLast = (): void => {
      if (!this.#heard) this.#silentPauses += 1;
      if (waits() || this.#silentPauses >= SILENT_PAUSES) giveUp();
      else this.#flushes = [];
    };
    if (others) after(lateMs, () => (waits() ? giveUp() : after(FLUSH_TIMEOUT_MS - lateMs, atLast)));
    else after(FLUSH_TIMEOUT_MS, atLast);
  }

  #keepAliveLater(): void {
    this.#keepAlive?.cancel();
    this.#keepAlive = this.#options.clock.after(KEEP_ALIVE_MS, () => {
      const session = this.#connection?.session;
      if (session !== undefined && session.keepAlive === undefined && this.#recognizer.streaming.speechOnly !== true)
        this.#send(new Uint8Array(this.#bytesPerSecond / 10));
      else {
        this.#sendMessages(session?.keepAlive?.());
        this.#keepAliveLater();
      }
    });
  }

  #take(event: Exclude<SttStreamEvent, { type: 'ready' }>): void {
    this.#silentPauses = 0;
    this.#heard = true;
    switch (event.type) {
      case 'interim':
        if (event.text.trim() !== '') this.#observed.words(this.#by);
        this.#words.came(event.text, { last: !this.#speaking && this.#flushes.length > 0, position: this.#backlog.end });
        this.#put(SpeechEventType.INTERIM_TRANSCRIPT, event.text);
        break;
      case 'final':
        if (event.upToSeconds !== undefined) this.#covered(event.upToSeconds);
        this.#words.answered(this.#flushes.length);
        this.#worked();
        if (event.text.trim() !== '') this.#observed.final(this.#by, event.text);
        this.#put(SpeechEventType.FINAL_TRANSCRIPT, event.text);
        break;
      case 'flushed':
        // Of several the first is answered, and the time is of the last.
        if (this.#flushes.length <= 1) this.#answerMs.set(this.#recognizer, this.#options.clock.monotonic() - this.#flushedAt);
        this.#words.answered(this.#flushes.length);
        this.#backlog.settle(this.#flushes.shift() ?? 0);
        if (this.#flushes.length === 0) {
          this.#deadline?.cancel();
          this.#observed.settled();
        }
        break;
      case 'end_of_turn':
        this.#observed.settled();
        this.queue.put({ type: SpeechEventType.END_OF_SPEECH });
        break;
      case 'failed':
        throw this.#failure(event.kind, event.message);
    }
  }

  /** Nothing more comes of the audio before the end of a final, in seconds of this connection. */
  #covered(upToSeconds: number): void {
    const position = (this.#connection?.from ?? 0) + this.#bytesIn(upToSeconds * 1_000);
    this.#backlog.settle(position);
    // Some providers answer no flush, or none after a noise; one at the end of the final may still be.
    const answered = position - this.#bytesIn(FLUSH_MARGIN_MS);
    this.#flushes = this.#flushes.filter((at) => at >= answered);
    if (this.#flushes.length === 0) this.#deadline?.cancel();
  }

  /** In whole samples: half of one would shift all audio after it by a byte. */
  #bytesIn(ms: number): number {
    return Math.round((ms * this.#sampleRate) / 1_000) * BYTES_PER_SAMPLE;
  }

  get #by(): RecognizerName {
    const { provider, streaming } = this.#recognizer;
    return { provider, model: streaming.model, address: streaming.url };
  }

  #put(type: stt.SpeechEventType, text: string): void {
    const trimmed = text.trim();
    if (trimmed === '' || this.queue.closed) return;
    const language = normalizeLanguage(this.#options.language);
    this.queue.put({ type, alternatives: [{ text: trimmed, language, startTime: 0, endTime: 0, confidence: 1 }] });
  }

  #failure(kind: ProviderErrorKind, message: string, more?: { readonly slow: boolean }): ProviderError {
    return failureOf({ part: 'stt', provider: this.#recognizer.provider }, kind, message, more);
  }
}
