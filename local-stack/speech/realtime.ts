/**
 * Serves OpenAI's realtime transcription with this machine's recogniser: it sends words as soon as two looks at the same speech agree on
 * them, and the transcript of all of it when it is committed.
 */
import { randomUUID } from 'node:crypto';

import { WebSocketServer, type WebSocket } from 'ws';

import { parseJson } from '../../platform/json.ts';
import type { Logger } from '../../platform/logging.ts';
import { samplesOf, type Speech } from './speech.ts';

const SAMPLE_RATE = 24_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
/** Seconds of speech between two looks at speech that goes on. */
const LOOK_SECONDS = 0.4;
/** Longest speech, in seconds. */
const LONGEST_SECONDS = 120;

interface Message {
  readonly type?: unknown;
  readonly audio?: unknown;
  readonly session?: { readonly audio?: { readonly input?: { readonly transcription?: { readonly language?: unknown } } } };
}

/** Accepts WebSockets for `/v1/realtime`. */
export function createRealtime({ speech, logger }: { readonly speech: Speech; readonly logger: Logger }): WebSocketServer {
  const server = new WebSocketServer({ noServer: true, maxPayload: LONGEST_SECONDS * BYTES_PER_SECOND * 2 });
  server.on('connection', (client) => {
    const session = new RealtimeSession(client, speech, logger);
    client.on('error', () => undefined);
    client.on('message', (data: Buffer) => session.take(data.toString()));
  });
  return server;
}

class RealtimeSession {
  readonly #client: WebSocket;
  readonly #speech: Speech;
  readonly #logger: Logger;
  #language: string | undefined;
  #heard: Buffer[] = [];
  #bytes = 0;
  #lookedAt = 0;
  #looking = false;
  /** Words that the last look found; the first of them were sent already. */
  #words: readonly string[] = [];
  #sent = 0;
  #item = randomUUID();

  constructor(client: WebSocket, speech: Speech, logger: Logger) {
    this.#client = client;
    this.#speech = speech;
    this.#logger = logger;
    this.#send({ type: 'session.created', session: { type: 'transcription' } });
  }

  take(text: string): void {
    const message = parseJson(text) as Message | null | undefined;
    if (message === undefined) return this.#refuse('invalid_json', 'the message is no JSON');
    switch (message?.type) {
      case 'session.update': {
        const language = message.session?.audio?.input?.transcription?.language;
        this.#language = typeof language === 'string' ? language : undefined;
        return this.#send({ type: 'session.updated', session: message.session });
      }
      case 'input_audio_buffer.append':
        return this.#append(Buffer.from(String(message.audio), 'base64'));
      case 'input_audio_buffer.clear':
        this.#next();
        return this.#send({ type: 'input_audio_buffer.cleared' });
      case 'input_audio_buffer.commit':
        return void this.#commit();
      default:
        return this.#refuse('invalid_value', `there is no event ${String(message?.type)} here`);
    }
  }

  #append(pcm: Buffer): void {
    if (this.#bytes + pcm.length > LONGEST_SECONDS * BYTES_PER_SECOND)
      return this.#refuse('input_audio_buffer_full', `commit speech before it is ${LONGEST_SECONDS} s long`);
    this.#heard.push(pcm);
    this.#bytes += pcm.length;
    if (!this.#looking && this.#bytes - this.#lookedAt >= LOOK_SECONDS * BYTES_PER_SECOND) void this.#look();
  }

  async #look(): Promise<void> {
    const item = this.#item;
    this.#looking = true;
    this.#lookedAt = this.#bytes;
    try {
      const words = (await this.#speech.partial({ samples: this.#samples(), sampleRate: SAMPLE_RATE }, this.#language)).split(' ');
      if (item !== this.#item) return;
      const agreed = words.findIndex((word, at) => word === '' || word !== this.#words[at]);
      this.#words = words;
      const delta = words.slice(this.#sent, agreed === -1 ? words.length : agreed);
      if (delta.length === 0) return;
      this.#sent += delta.length;
      this.#send({
        type: 'conversation.item.input_audio_transcription.delta',
        item_id: item,
        content_index: 0,
        delta: `${delta.join(' ')} `,
      });
    } catch (err) {
      this.#logger.debug({ err }, 'failed to look at speech under way');
    } finally {
      this.#looking = false;
    }
  }

  async #commit(): Promise<void> {
    if (this.#bytes < BYTES_PER_SECOND / 10)
      return this.#refuse('input_audio_buffer_commit_empty', 'there is less than 100 ms of audio to commit');
    const [item, samples] = [this.#item, this.#samples()];
    this.#next();
    this.#send({ type: 'input_audio_buffer.committed', item_id: item });
    const about = { item_id: item, content_index: 0 };
    try {
      const { text, doubtful } = await this.#speech.hear({ samples, sampleRate: SAMPLE_RATE }, this.#language);
      this.#logger.debug({ text, doubtful }, 'heard');
      this.#send({ type: 'conversation.item.input_audio_transcription.completed', ...about, transcript: text });
    } catch (err) {
      this.#logger.error({ err }, 'failed to transcribe');
      this.#send({ type: 'conversation.item.input_audio_transcription.failed', ...about, error: { message: 'see the log of dev-speech' } });
    }
  }

  #next(): void {
    this.#heard = [];
    this.#bytes = this.#lookedAt = this.#sent = 0;
    this.#words = [];
    this.#item = randomUUID();
  }

  #samples(): Int16Array {
    return samplesOf(Buffer.concat(this.#heard));
  }

  #send(event: object): void {
    if (this.#client.readyState === this.#client.OPEN) this.#client.send(JSON.stringify({ event_id: randomUUID(), ...event }));
  }

  #refuse(code: string, message: string): void {
    this.#send({ type: 'error', error: { type: 'invalid_request_error', code, message, param: null } });
  }
}
