/** Speaks all answers of a call over one WebSocket, each in a context of its own. A lost connection is opened again when it is needed. */
import { randomUUID } from 'node:crypto';

import type { Clock } from '../../../../platform/clock.ts';
import { Semaphore } from '../../../../platform/semaphore.ts';
import { untilAborted } from '../../../../platform/aborted.ts';
import {
  toCallFailure,
  ProviderError,
  type ProviderConnect,
  type ProviderErrorKind,
  type ProviderSocket,
} from '../../../../calls/provider-access/index.ts';
import { parseMessage } from '../../protocol-support.ts';
import type { SpokenAnswer, SpokenSentence, SpeechSource } from '../speech-source.ts';
import type { TtsStreaming } from './protocol.ts';
import { SpeechContext } from './speech-context.ts';

export interface SocketSpeechOptions {
  readonly provider: string;
  readonly streaming: TtsStreaming;
  readonly connect: ProviderConnect;
  readonly clock: Clock;
  /** Says the sentences of an answer whose beginning no context knows, where it takes the text before them. */
  readonly continuation?: SpeechSource | undefined;
}

const CLOSED = 'closed the connection in the middle of an answer';

interface Connection {
  readonly socket: ProviderSocket;
  readonly contexts: Map<string, SpeechContext>;
  readonly slots: Semaphore | undefined;
  /** Aborts with the failure of the connection. */
  readonly lost: AbortController;
}

interface Place {
  readonly connection: Connection;
  readonly leave: (() => void) | undefined;
}

export class SocketSpeech implements SpeechSource {
  /** Sentences at a time: one begins when the sound of the one before is there, long before that has been heard. */
  readonly atOnce = 1;
  readonly #options: SocketSpeechOptions;
  readonly #closing = new AbortController();
  readonly #contexts = new WeakMap<SpokenAnswer, SpeechContext>();
  #connection: Promise<Connection> | undefined;

  constructor(options: SocketSpeechOptions) {
    this.#options = options;
  }

  get model(): string {
    return this.#options.streaming.model;
  }

  connect(): void {
    this.#connected().catch(() => undefined);
  }

  async *soundOf(sentence: SpokenSentence, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const { answer, text, before } = sentence;
    const { continuation } = this.#options;
    const known = this.#contexts.get(answer);
    if (known?.open !== true && before !== '' && continuation !== undefined) {
      yield* continuation.soundOf(sentence, signal);
      return;
    }
    const context = known?.open === true ? known : this.#begin(answer, await this.#place(signal), signal);
    const abandon = (): void => context.abandon(signal.reason);
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const sound = context.say(text);
      if (answer.complete.aborted) context.end();
      yield* sound as unknown as AsyncIterable<Uint8Array>;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }

  close(): void {
    this.#closing.abort(new Error('the connection is closed'));
  }

  #connected(): Promise<Connection> {
    return (this.#connection ??= this.#open());
  }

  async #open(): Promise<Connection> {
    const { streaming, connect } = this.#options;
    const { url, headers, maxContexts } = streaming;
    const lost = new AbortController();
    try {
      const socket = await connect(url, { headers, signal: AbortSignal.any([this.#closing.signal, lost.signal]) });
      const slots = maxContexts === undefined ? undefined : new Semaphore(maxContexts);
      const connection = { socket, contexts: new Map<string, SpeechContext>(), slots, lost };
      void this.#read(connection);
      return connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  async #read({ socket, contexts, lost }: Connection): Promise<void> {
    const { streaming } = this.#options;
    let messages = 0;
    try {
      for await (const text of socket.messages()) {
        messages += 1;
        const message = parseMessage(text);
        if (typeof message !== 'object' || message === null)
          throw this.#failure('payload', 'sent something that is no sound: check its address');
        const id = streaming.contextOf(message);
        for (const context of id === undefined ? [...contexts.values()] : [contexts.get(id)]) context?.receive(message);
      }
      lost.abort(this.#failure('connection_lost', CLOSED));
    } catch (error) {
      // The connection's last message may say why. What was taken before is not refused now: a limit of the connection is, which the next
      // one may not meet.
      const outlived = messages > 1 && error instanceof ProviderError && error.kind === 'refused';
      lost.abort(outlived ? this.#failure('connection_lost', CLOSED) : error);
    }
    this.#connection = undefined;
    socket.close();
    for (const context of contexts.values()) context.fail(lost.signal.reason);
  }

  /** Waits for the place of one more context. */
  async #place(signal: AbortSignal): Promise<Place> {
    const connection = await untilAborted(this.#connected(), signal);
    const either = AbortSignal.any([signal, connection.lost.signal]);
    const leave = await connection.slots?.acquire(either);
    return { connection, leave };
  }

  #begin(answer: SpokenAnswer, { connection, leave }: Place, signal: AbortSignal): SpeechContext {
    const { provider, streaming, clock } = this.#options;
    const { socket, contexts, lost } = connection;
    lost.signal.throwIfAborted();
    if (signal.aborted) leave?.();
    signal.throwIfAborted();
    const id = randomUUID();
    const context = new SpeechContext({
      provider,
      protocol: streaming.context(id),
      idleMs: streaming.contextIdleMs,
      confirmsClose: streaming.maxContexts !== undefined,
      send: (messages) => messages.forEach((message) => socket.send(message)),
      onSilence: (failure) => lost.abort(failure),
      onClose: () => {
        if (contexts.delete(id)) leave?.();
      },
      clock,
    });
    contexts.set(id, context);
    this.#contexts.set(answer, context);
    answer.complete.addEventListener('abort', () => context.end(), { once: true });
    return context;
  }

  #failure(kind: ProviderErrorKind, message: string): ProviderError {
    return toCallFailure({ part: 'tts', provider: this.#options.provider }, kind, message);
  }
}
