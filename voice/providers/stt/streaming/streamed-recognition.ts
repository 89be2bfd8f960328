/**
 * Recognises speech on one stream for the length of a call. Audio that no final transcript covers yet is kept: when the connection is
 * lost, even in the middle of a word, the next one begins with it, whether it is to the same provider or to a fallback.
 */
import { AudioFrame, AudioResampler } from '@livekit/rtc-node';

import type { HeardMeter } from '../../../../calls/usage/heard-meter.ts';
import type { Clock, Timer } from '../../../../platform/clock.ts';
import { retry } from '../../../../platform/retry.ts';
import { unobserved, type ModelRequestObserver } from '../../../../platform/telemetry/gen-ai/model-requests.ts';
import {
  errorTypeOf,
  toCallFailure,
  ProviderError,
  type ProviderConnect,
  type ProviderErrorKind,
  type ProviderSocket,
} from '../../../../calls/provider-access/index.ts';
import { parseMessage } from '../../protocol-support.ts';
import { LATE_MS, type Named, type ProviderOrder } from '../../../../calls/fallback/provider-order.ts';
import { afterTransient, isTransient } from '../../provider-errors.ts';
import { ObservedUtterances, type RecognizerName } from '../observed-utterances.ts';
import { RECOGNITION_SAMPLE_RATE, type Recognition, type RecognitionEvent } from '../recognition.ts';
import { AudioBacklog } from './audio-backlog.ts';
import { InterimWords } from './interim-words.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

export interface SttProvider extends Named {
  readonly streaming: SttStreaming;
  readonly connect: ProviderConnect;
  /** Meter of the audio; absent where the connection counts by itself. */
  readonly counted?: HeardMeter | undefined;
}

export interface StreamedRecognitionOptions {
  readonly observer?: ModelRequestObserver | undefined;
  readonly providers: Pick<ProviderOrder<SttProvider>, 'all' | 'order' | 'answered'>;
  readonly clock: Clock;
  readonly onEvent: (event: RecognitionEvent) => void;
  readonly onClose: () => void;
}

const BYTES_PER_SAMPLE = 2;
const BYTES_PER_SECOND = RECOGNITION_SAMPLE_RATE * BYTES_PER_SAMPLE;
/** Returns the bytes of whole samples: half of one would shift all audio after it by a byte. */
const bytesIn = (ms: number): number => Math.round((ms * RECOGNITION_SAMPLE_RATE) / 1_000) * BYTES_PER_SAMPLE;
/** Bytes of audio that are sent at once: fewer cost more than they save. */
const CHUNK_BYTES = bytesIn(50);
/** Longest audio that no final transcript covers, in seconds: longer than anybody speaks without a pause. */
const BACKLOG_SECONDS = 60;
/** Longest wait for the finals of a pause, in milliseconds. */
const FLUSH_TIMEOUT_MS = 5_000;
/** A final that answers a flush may end after it by less than this, in milliseconds. */
const FLUSH_MARGIN_MS = 100;
/** Longest time that a provider may take to say that it accepts audio, in milliseconds. */
const READY_TIMEOUT_MS = 8_000;
/** Pauses in a row without a word of the provider after which the connection is dead; not every noise is answered. */
const SILENT_PAUSES = 2;
/** Pause between keep-alives, in milliseconds: providers end connections without audio after ten seconds or more. */
const KEEP_ALIVE_MS = 4_000;
/** Audio that is sent from before speech was noticed, in milliseconds: it has the first syllable. */
const BEFORE_SPEECH_MS = 500;
/** Longest stall of a process, in milliseconds: its sound is here at once, long before the VAD has read it. */
const LONGEST_STALL_MS = 10_000;
/** Pauses before connecting again, in milliseconds: a provider that restarts may take seconds, and speech waits meanwhile. */
const RETRY_DELAYS_MS = [100, 500, 1_000, 2_000, 4_000] as const;
/** Time after which a connection did work, in milliseconds: its end is no failure, for providers limit how long one lasts. */
const LASTED_MS = 30_000;

interface Connection {
  readonly socket: ProviderSocket;
  readonly session: SttStreamSession;
  /** Absent where the provider takes the sound as it is. */
  readonly resampler: AudioResampler | undefined;
  /** Position of the first byte that was sent on it, or since its last `ready`. */
  readonly from: number;
}

export class StreamedRecognition implements Recognition {
  readonly #options: StreamedRecognitionOptions;
  readonly #closing = new AbortController();
  #provider: SttProvider;
  readonly #observed: ObservedUtterances;
  /** Providers that failed in this round, with their failures: each is tried once before the next round. */
  readonly #failed = new Map<SttProvider, unknown>();
  /** Audio that is less than a chunk. */
  #pending = Buffer.alloc(0);
  readonly #backlog = new AudioBacklog({ maxBytes: BACKLOG_SECONDS * BYTES_PER_SECOND });
  /** Silence, and sound that the VAD has not read yet: only the end is sent once somebody speaks. */
  readonly #unsent = new AudioBacklog({ maxBytes: bytesIn(LONGEST_STALL_MS) });
  #speaking = false;
  #connection: Connection | undefined;
  /** Positions of the flushes that are not answered, the oldest first. */
  #flushes: number[] = [];
  /** Position of the last pause, while words from before it may still come. */
  #pausedAt: number | undefined;
  #deadline: Timer | undefined;
  /** Time of the last flush, by the monotonic clock. */
  #flushedAt = 0;
  /** Time that each provider took to answer its last flush, in milliseconds. */
  readonly #answerMs = new Map<SttProvider, number>();
  #keepAlive: Timer | undefined;
  readonly #words = new InterimWords();
  /** Number of failures since the last final. */
  #failures = 0;
  /** Number of pauses in a row after which nothing at all was heard of the provider. */
  #silentPauses = 0;
  /** True if the provider has said anything since the last pause: not every one answers a flush by name. */
  #heard = false;

  constructor(options: StreamedRecognitionOptions) {
    const { providers, observer = unobserved, clock } = options;
    this.#options = options;
    this.#provider = providers.all[0]!;
    this.#observed = new ObservedUtterances({ observer, now: () => clock.now() });
    void this.#run();
  }

  push(samples: Int16Array): void {
    if (this.#closed) return;
    this.#pending = Buffer.concat([this.#pending, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
    if (this.#pending.length >= CHUNK_BYTES) this.#sendPending();
  }

  /** Counts audio as speech from now on, for protocols that take speech only. */
  speaks(unreadMs = 0): void {
    if (this.#closed || this.#speaking) return;
    this.#speaking = true;
    this.#observed.speaks();
    for (const chunk of this.#takeUnsent(unreadMs)) this.#send(chunk);
  }

  pauses(): void {
    if (this.#closed) return;
    this.#sendPending();
    this.#flush();
    this.#speaking = false;
  }

  get byRequest(): boolean {
    return this.#provider.streaming.byRequest === true;
  }

  get recognizes(): boolean {
    if (this.#closed) return false;
    return this.#words.some || (this.#provider.streaming.answersEveryFlush === true && this.#flushes.length > 0);
  }

  close(): void {
    if (this.#closed) return;
    this.#observed.closed();
    this.#sendMessages(this.#connection?.session.end());
    this.#connection?.socket.close();
    this.#disconnect();
    this.#closing.abort(new Error('the recognition is closed'));
    this.#options.onClose();
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Connects, sends and hears until it is closed. */
  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    try {
      const delayMs = afterTransient(() => RETRY_DELAYS_MS[this.#failures++]);
      await retry(() => this.#serveRound(), { delayMs, clock, signal });
    } catch (error) {
      this.#emit({ type: 'failed', error });
      this.close();
    }
  }

  /** Serves with one provider after the other, without a pause. @throws the failure that may be retried, of those that they failed with */
  async #serveRound(): Promise<never> {
    const { providers } = this.#options;
    for (;;) {
      const left = providers.order.filter((each) => !this.#failed.has(each));
      this.#provider = left[0]!;
      try {
        await this.#serve({ last: left.length === 1 });
      } catch (error) {
        this.#closing.signal.throwIfAborted();
        this.#observed.failed(errorTypeOf(error));
        this.#failed.set(this.#provider, error);
        if (this.#failed.size < providers.all.length) continue;
        const failures = [...this.#failed.values()];
        this.#failed.clear();
        throw failures.find((failure) => failure instanceof ProviderError && isTransient(failure)) ?? failures[0];
      }
    }
  }

  #takeUnsent(unreadMs = 0): readonly Uint8Array[] {
    this.#unsent.settle(this.#unsent.end - bytesIn(BEFORE_SPEECH_MS + unreadMs));
    const { chunks, end } = this.#unsent;
    this.#unsent.settle(end);
    return chunks;
  }

  /** Serves with one provider. @param options.last no other one is left in this round: it is given all the time that there is */
  async #serve({ last }: { readonly last: boolean }): Promise<never> {
    const { clock } = this.#options;
    const { streaming, connect } = this.#provider;
    const readyMs = last ? READY_TIMEOUT_MS : LATE_MS;
    const limit = new AbortController();
    const timer = clock.after(readyMs, () => {
      if (this.#connection === undefined)
        limit.abort(this.#failure('unreachable', `did not accept audio within ${readyMs} ms`, { slow: true }));
    });
    const signal = AbortSignal.any([this.#closing.signal, limit.signal]);
    let opened: number | undefined;
    let socket: ProviderSocket | undefined;
    let resampler: AudioResampler | undefined;
    try {
      socket = await connect(streaming.url, { headers: streaming.headers, signal });
      signal.throwIfAborted();
      signal.addEventListener('abort', () => socket?.close());
      opened = clock.monotonic();
      if (streaming.sampleRate !== RECOGNITION_SAMPLE_RATE) resampler = new AudioResampler(RECOGNITION_SAMPLE_RATE, streaming.sampleRate);
      const session = streaming.session();
      for (const message of session.begin?.() ?? []) socket.send(message);
      if (streaming.confirms !== true) this.#connected({ socket, session, resampler });
      for await (const message of socket.messages())
        for (const event of session.read(parseMessage(message))) {
          signal.throwIfAborted();
          if (event.type === 'ready') this.#connected({ socket, session, resampler });
          else this.#take(event);
        }
      throw this.#failure('connection_lost', 'closed the connection in the middle of a call');
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      timer.cancel();
      socket?.close();
      resampler?.close();
      this.#disconnect();
      if (opened !== undefined && clock.monotonic() - opened > LASTED_MS) this.#worked();
    }
  }

  /** Forgets earlier failures. */
  #worked(): void {
    this.#failures = 0;
    this.#failed.clear();
  }

  /** Begins with the audio that the last connection, or the session before `ready`, left unanswered. */
  #connected(connection: Omit<Connection, 'from'>): void {
    const passed = [...this.#failed].map(([provider, failure]) => ({ provider, failure }));
    this.#options.providers.answered(this.#provider, passed);
    if (this.#provider.streaming.speechOnly !== true) for (const chunk of this.#takeUnsent()) this.#backlog.push(chunk);
    this.#connection = { ...connection, from: this.#backlog.from };
    this.#provider.counted?.request();
    // The finals are asked for where the last pause was: the words that the user has begun since are not cut.
    let pause = this.#flushes.at(-1) ?? this.#pausedAt ?? Infinity;
    this.#flushes = [];
    let { from: position, chunks } = this.#backlog;
    const askAt = (end: number): void => {
      if (end < pause) return;
      pause = Infinity;
      this.#flush(end);
    };
    askAt(position);
    for (const chunk of chunks) {
      this.#sendAudio(chunk);
      askAt((position += chunk.length));
    }
    this.#keepAliveLater();
  }

  #disconnect(): void {
    this.#keepAlive?.cancel();
    this.#deadline?.cancel();
    this.#connection = undefined;
  }

  #sendPending(): void {
    const chunk = this.#pending;
    this.#pending = Buffer.alloc(0);
    if (chunk.length > 0) this.#send(chunk);
  }

  #send(pcm: Uint8Array): void {
    if (this.#provider.streaming.speechOnly === true && !this.#speaking) return this.#unsent.push(pcm);
    this.#backlog.push(pcm);
    this.#sendAudio(pcm);
    this.#keepAliveLater();
  }

  #sendAudio(pcm: Uint8Array): void {
    if (this.#connection === undefined) return;
    const { resampler } = this.#connection;
    this.#provider.counted?.audio((pcm.length / BYTES_PER_SECOND) * 1_000);
    this.#sendConverted(resampler === undefined ? pcm : joinFrames(resampler.push(frameOf(pcm))));
  }

  #sendConverted(pcm: Uint8Array): void {
    if (pcm.length > 0) this.#sendMessages(this.#connection?.session.audio(pcm));
  }

  #sendMessages(messages: readonly (string | Uint8Array)[] = []): void {
    for (const message of messages) this.#connection?.socket.send(message);
  }

  #flush(position = this.#backlog.end): void {
    const { streaming } = this.#provider;
    // The resampler holds back the last milliseconds.
    this.#sendConverted(joinFrames(this.#connection?.resampler?.flush() ?? []));
    const messages = this.#connection?.session.flush?.();
    const canBeAsked = this.#connection === undefined || messages !== undefined;
    this.#observed.paused(this.#by);
    this.#heard = false;
    this.#pausedAt = position;
    if (canBeAsked) {
      this.#flushes.push(position);
      this.#words.asked();
    }
    this.#sendMessages(messages);
    this.#flushedAt = this.#options.clock.monotonic();
    // Where all providers are slow, the next one would be no faster.
    const lateMs = Math.min(FLUSH_TIMEOUT_MS, Math.max(LATE_MS, 2 * (this.#answerMs.get(this.#provider) ?? 0)));
    const others = this.#failed.size + 1 < this.#options.providers.all.length;
    // Words that came later belong to the next pause.
    const waits = (): boolean => canBeAsked && (streaming.answersEveryFlush === true || this.#words.cameBy(position));
    // The next connection is asked again, with the same audio.
    const giveUp = (): void => this.#connection?.socket.close();
    const after = (ms: number, then: () => void): void => {
      this.#deadline?.cancel();
      this.#deadline = this.#options.clock.after(ms, then);
    };
    const atLast = (): void => {
      if (!this.#heard) this.#silentPauses += 1;
      if (waits() || this.#silentPauses >= SILENT_PAUSES) return giveUp();
      this.#flushes = [];
      this.#settle();
    };
    if (others) after(lateMs, () => (waits() ? giveUp() : after(FLUSH_TIMEOUT_MS - lateMs, atLast)));
    else if (streaming.byRequest !== true) after(FLUSH_TIMEOUT_MS, atLast);
  }

  /**
   * Settles each pause once, or several that are answered together. @param options.answered settles although no flush is taken for
   * answered
   */
  #settle({ answered = false } = {}): void {
    if (this.#flushes.length === 0) this.#deadline?.cancel();
    else if (!answered) return;
    if (this.#pausedAt === undefined) return;
    this.#pausedAt = undefined;
    this.#emit({ type: 'settled' });
  }

  #keepAliveLater(): void {
    this.#keepAlive?.cancel();
    this.#keepAlive = this.#options.clock.after(KEEP_ALIVE_MS, () => {
      const session = this.#connection?.session;
      if (session !== undefined && session.keepAlive === undefined && this.#provider.streaming.speechOnly !== true)
        this.#send(new Uint8Array(BYTES_PER_SECOND / 10));
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
        this.#emitWords('interim', event.text);
        break;
      case 'final':
        if (event.upToSeconds !== undefined) this.#covered(event.upToSeconds);
        this.#words.answered(this.#flushes.length);
        this.#worked();
        if (event.text.trim() !== '') this.#observed.final(this.#by, event.text);
        this.#emitWords('final', event.text);
        this.#settle({ answered: this.#provider.streaming.answersByFinal === true && !this.#words.some });
        break;
      case 'flushed':
        // The first of several flushes is answered, but the time is that of the last.
        if (this.#flushes.length <= 1) this.#answerMs.set(this.#provider, this.#options.clock.monotonic() - this.#flushedAt);
        this.#words.answered(this.#flushes.length);
        this.#backlog.settle(this.#flushes.shift() ?? 0);
        if (this.#flushes.length === 0) this.#observed.settled();
        this.#settle();
        break;
      case 'end_of_turn':
        this.#observed.settled();
        break;
      case 'failed':
        throw this.#failure(event.kind, event.message);
    }
  }

  /** Forgets the audio before the end of a final, in seconds of this connection: nothing more comes of it. */
  #covered(upToSeconds: number): void {
    const position = (this.#connection?.from ?? 0) + bytesIn(upToSeconds * 1_000);
    this.#backlog.settle(position);
    // Some providers answer no flush, or none after a noise; one at the end of the final may still be.
    const answered = position - bytesIn(FLUSH_MARGIN_MS);
    this.#flushes = this.#flushes.filter((at) => at >= answered);
  }

  get #by(): RecognizerName {
    const { provider, streaming } = this.#provider;
    return { provider, model: streaming.model, address: streaming.url };
  }

  #emitWords(type: 'interim' | 'final', text: string): void {
    const trimmed = text.trim();
    if (trimmed !== '') this.#emit({ type, text: trimmed });
  }

  #emit(event: RecognitionEvent): void {
    if (!this.#closed) this.#options.onEvent(event);
  }

  #failure(kind: ProviderErrorKind, message: string, more?: { readonly slow: boolean }): ProviderError {
    return toCallFailure({ part: 'stt', provider: this.#provider.provider }, kind, message, more);
  }
}

function frameOf(pcm: Uint8Array): AudioFrame {
  const samples = new Int16Array(new Uint8Array(pcm).buffer);
  return new AudioFrame(samples, RECOGNITION_SAMPLE_RATE, 1, samples.length);
}

const joinFrames = (frames: readonly AudioFrame[]): Uint8Array =>
  Buffer.concat(frames.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
