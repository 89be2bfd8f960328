/**
 * One stream of speech to a provider, for the length of a call. What no final transcript covers yet is kept: when the connection is lost, even in the
 * middle of a word, the next one begins with it.
 */
import { normalizeLanguage, stt, type APIConnectOptions } from '@livekit/agents';

import type { Clock, Timer } from '../../../../platform/clock.ts';
import {
  failureOf,
  type ProviderError,
  type ProviderConnect,
  type ProviderErrorKind,
  type ProviderSocket,
} from '../../../calls/provider-access/index.ts';
import { parseMessage } from '../../protocol-support.ts';
import { withRetries } from '../../provider-errors.ts';
import { AudioBacklog } from './audio-backlog.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

export interface SttStreamOptions {
  readonly streaming: SttStreaming;
  readonly provider: string;
  /** BCP 47. */
  readonly language: string;
  readonly connect: ProviderConnect;
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
/** How long a provider may take to say that it accepts audio, in milliseconds. */
const READY_TIMEOUT_MS = 8_000;
/** Not every noise is answered; so many in a row without a word of the provider are a connection that is dead. */
const SILENT_PAUSES = 2;
/** Providers end connections without audio after ten seconds or more. */
const KEEP_ALIVE_MS = 4_000;
/** Of the audio before speech was noticed, in milliseconds: it has the first syllable. */
const BEFORE_SPEECH_MS = 500;
/** Before connecting again, in milliseconds: a provider that restarts may take seconds, and what is said meanwhile waits. */
const RETRY_DELAYS_MS = [100, 500, 1_000, 2_000, 4_000] as const;
/** A connection that has lasted this long did work: its end is no failure, for providers limit how long one lasts. In milliseconds. */
const LASTED_MS = 30_000;

interface Connection {
  readonly socket: ProviderSocket;
  readonly session: SttStreamSession;
  /** Position of the first byte that was sent on it, or since its last `ready`. */
  readonly from: number;
}

export class SttStream extends stt.SpeechStream {
  override label = 'parley.SttStream';
  readonly #options: SttStreamOptions;
  readonly #backlog: AudioBacklog;
  readonly #bytesPerSecond: number;
  /** Silence, of which only the end is sent once somebody speaks. */
  readonly #unsent: AudioBacklog;
  #speaking = false;
  /** For each pause that waits behind the audio before it: whether the user speaks again after it. */
  readonly #pauses: boolean[] = [];
  #connection: Connection | undefined;
  /** Positions of the flushes that are not answered, the oldest first. */
  #flushes: number[] = [];
  #deadline: Timer | undefined;
  #keepAlive: Timer | undefined;
  /** Position of the end of the audio when words first came that no final has yet. */
  #wordsAt: number | undefined;
  #inputEnded = false;
  /** Since the last final. */
  #failures = 0;
  /** Pauses in a row after which nothing at all was heard of the provider. */
  #silentPauses = 0;

  constructor(owner: stt.STT, options: SttStreamOptions, connOptions?: APIConnectOptions) {
    super(owner, options.streaming.sampleRate, connOptions);
    this.#options = options;
    this.#bytesPerSecond = options.streaming.sampleRate * BYTES_PER_SAMPLE;
    this.#backlog = new AudioBacklog({ maxBytes: BACKLOG_SECONDS * this.#bytesPerSecond });
    this.#unsent = new AudioBacklog({ maxBytes: (BEFORE_SPEECH_MS * this.#bytesPerSecond) / 1_000 });
    void this.#readInput();
  }

  /** Connects, sends and hears until the input has ended. @throws ProviderApiError that LiveKit does not retry once more */
  protected override run(): Promise<void> {
    const { clock } = this.#options;
    const retries = { clock, signal: this.abortSignal, pauseMs: () => RETRY_DELAYS_MS[this.#failures++] };
    return withRetries(retries, () => this.#serve());
  }

  /** Audio counts from now on, for protocols that take speech only. */
  userSpeaks(): void {
    if (this.#pauses.length > 0) this.#pauses[this.#pauses.length - 1] = true;
    if (this.#speaking) return;
    this.#speaking = true;
    const { chunks, end } = this.#unsent;
    this.#unsent.settle(end);
    for (const chunk of chunks) this.#send(chunk);
  }

  /** Asks for the finals of what was pushed so far. */
  userPaused(): void {
    if (this.closed || this.input.closed) return;
    this.#pauses.push(false);
    this.flush();
  }

  override close(): void {
    this.#disconnect();
    this.#options.onClose();
    super.close();
  }

  async #serve(): Promise<void> {
    const { streaming, connect, clock } = this.#options;
    const socket = await connect(streaming.url, { headers: streaming.headers, signal: this.abortSignal });
    const opened = clock.monotonic();
    const session = streaming.session();
    let late = false;
    const timer = clock.after(READY_TIMEOUT_MS, () => {
      late = this.#connection === undefined;
      if (late) socket.close();
    });
    try {
      for (const message of session.begin?.() ?? []) socket.send(message);
      if (streaming.confirms !== true) this.#connected({ socket, session });
      for await (const message of socket.messages()) {
        for (const event of session.read(parseMessage(message))) {
          if (event.type === 'ready') this.#connected({ socket, session });
          else this.#take(event);
        }
        if (this.#inputEnded && session.flush !== undefined && this.#flushes.length === 0) return;
      }
    } finally {
      timer.cancel();
      socket.close();
      this.#disconnect();
      if (clock.monotonic() - opened > LASTED_MS) this.#failures = 0;
    }
    if (late) throw this.#failure('unreachable', `did not accept audio within ${READY_TIMEOUT_MS} ms`, { slow: true });
    if (!this.#inputEnded) throw this.#failure('connection_lost', 'closed the connection in the middle of a call');
  }

  /** Begins with what the last connection, or the session before `ready`, left unanswered. */
  #connected({ socket, session }: Pick<Connection, 'socket' | 'session'>): void {
    this.#connection = { socket, session, from: this.#backlog.from };
    for (const chunk of this.#backlog.chunks) for (const message of session.audio(chunk)) socket.send(message);
    if (this.#flushes.length > 0) {
      this.#flushes = [];
      this.#flush();
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
    const chunkBytes = (this.#bytesPerSecond * CHUNK_MS) / 1_000;
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
    if (this.#options.streaming.speechOnly === true && !this.#speaking) return this.#unsent.push(pcm);
    this.#backlog.push(pcm);
    this.#sendMessages(this.#connection?.session.audio(pcm));
    this.#keepAliveLater();
  }

  #sendMessages(messages: readonly (string | Uint8Array)[] = []): void {
    for (const message of messages) this.#connection?.socket.send(message);
  }

  #flush(): void {
    const { streaming, clock } = this.#options;
    const messages = this.#connection?.session.flush?.();
    const canBeAsked = this.#connection === undefined || messages !== undefined;
    const position = this.#backlog.end;
    if (canBeAsked) this.#flushes.push(position);
    this.#sendMessages(messages);
    this.#deadline?.cancel();
    this.#deadline = clock.after(FLUSH_TIMEOUT_MS, () => {
      this.#silentPauses += 1;
      // Words that came later belong to the next pause; after the last audio there is nothing more to wait for.
      const waits = this.#inputEnded || streaming.answersEveryFlush === true || (this.#wordsAt !== undefined && this.#wordsAt <= position);
      // The next connection is asked again, with the same audio.
      if ((canBeAsked && waits) || this.#silentPauses >= SILENT_PAUSES) this.#connection?.socket.close();
      else this.#flushes = [];
    });
  }

  #keepAliveLater(): void {
    this.#keepAlive?.cancel();
    this.#keepAlive = this.#options.clock.after(KEEP_ALIVE_MS, () => {
      const session = this.#connection?.session;
      if (session !== undefined && session.keepAlive === undefined && this.#options.streaming.speechOnly !== true)
        this.#send(new Uint8Array(this.#bytesPerSecond / 10));
      else {
        this.#sendMessages(session?.keepAlive?.());
        this.#keepAliveLater();
      }
    });
  }

  #take(event: Exclude<SttStreamEvent, { type: 'ready' }>): void {
    const { streaming } = this.#options;
    this.#silentPauses = 0;
    switch (event.type) {
      case 'interim':
        this.#wordsAt = event.text.trim() === '' ? undefined : (this.#wordsAt ?? this.#backlog.end);
        this.#put(SpeechEventType.INTERIM_TRANSCRIPT, event.text);
        break;
      case 'final':
        this.#wordsAt = undefined;
        this.#failures = 0;
        if (event.upToSeconds !== undefined) {
          // In whole samples: half of one would shift all audio after it by a byte.
          const samples = Math.round(event.upToSeconds * streaming.sampleRate);
          this.#backlog.settle((this.#connection?.from ?? 0) + samples * BYTES_PER_SAMPLE);
        }
        this.#put(SpeechEventType.FINAL_TRANSCRIPT, event.text);
        break;
      case 'flushed':
        this.#backlog.settle(this.#flushes.shift() ?? 0);
        if (this.#flushes.length === 0) this.#deadline?.cancel();
        break;
      case 'end_of_turn':
        this.queue.put({ type: SpeechEventType.END_OF_SPEECH });
        break;
      case 'failed':
        throw this.#failure(event.kind, event.message);
    }
  }

  #put(type: stt.SpeechEventType, text: string): void {
    const trimmed = text.trim();
    if (trimmed === '' || this.queue.closed) return;
    const language = normalizeLanguage(this.#options.language);
    this.queue.put({ type, alternatives: [{ text: trimmed, language, startTime: 0, endTime: 0, confidence: 1 }] });
  }

  #failure(kind: ProviderErrorKind, message: string, more?: { readonly slow: boolean }): ProviderError {
    return failureOf({ part: 'stt', provider: this.#options.provider }, kind, message, more);
  }
}
