/** Plays speech to text in virtual time: it understands the words that the sound says, by requests or as a stream, after a delay. */
import { Response } from 'undici';

import { sleep, type Timer } from '../../platform/clock.ts';
import type { ProviderError, ProviderSocket } from '../../calls/provider-access/index.ts';
import type { SpeechRecognizer } from '../../voice/providers/index.ts';
import { deepgramStreaming } from '../../voice/providers/stt/streaming/deepgram.ts';
import type { SttProvider } from '../../voice/providers/stt/streaming/streamed-recognition.ts';
import { connectToWholeTurns, wholeTurns } from '../../voice/providers/stt/streaming/whole-turns.ts';
import type { FakeClock } from './fake-clock.ts';
import { recognizerOf } from './speech-recognition.ts';
import type { WordSound } from './word-sound.ts';

/** Outcome for the words of one pause. */
export interface Understood {
  /** Text in place of the words. */
  readonly text?: string;
  /** Milliseconds from the pause to the words; `Infinity` for never. */
  readonly delayMs?: number;
  readonly fails?: ProviderError;
}

export interface RecognizerScript {
  /** Says whether each pause is a request, or all of it a stream with interim words. */
  readonly by: 'requests' | 'stream';
  /** Milliseconds from the end of a word to its interim; default 100. */
  readonly interimMs?: number;
  /** @param index number of the pause, from 0 */
  readonly understands?: (words: string, index: number) => Understood;
}

interface Answered extends Understood {
  readonly text: string;
  readonly delayMs: number;
}

const PROVIDER = 'deepgram';
const DELAY_MS = 200;
const INTERIM_MS = 100;
const HEADER_BYTES = 44;
const SAMPLES_PER_SECOND = 16_000;

const samplesOf = (bytes: Uint8Array): Int16Array => new Int16Array(new Uint8Array(bytes).buffer);

export class ScriptedRecognizer {
  readonly recognizer: SpeechRecognizer;
  readonly provider: SttProvider;
  readonly #script: RecognizerScript;
  readonly #sound: WordSound;
  readonly #clock: FakeClock;
  #pauses = 0;
  #stream: ScriptedStream | undefined;

  constructor(script: RecognizerScript, { sound, clock }: { readonly sound: WordSound; readonly clock: FakeClock }) {
    this.#script = script;
    this.#sound = sound;
    this.#clock = clock;
    this.provider = script.by === 'requests' ? this.#byRequests() : this.#byStream();
    this.recognizer = recognizerOf([this.provider], { clock });
  }

  /** Breaks the connection of the stream. */
  break(): void {
    this.#stream?.close();
  }

  #byRequests() {
    const connect = connectToWholeTurns({
      provider: PROVIDER,
      protocol: {
        model: 'm',
        requestFor: (wav) => ({ url: 'http://ears', headers: {}, body: wav }),
        textOf: (answer) => (answer as { readonly text: string }).text,
      },
      fetch: async (_url, { body, signal } = {}) => {
        const words = this.#sound.wordsIn(samplesOf((body as Uint8Array).subarray(HEADER_BYTES)));
        const { text, delayMs, fails } = this.#understand(words);
        await sleep(this.#clock, delayMs, signal ?? undefined);
        if (fails !== undefined) throw fails;
        return new Response(JSON.stringify({ text }));
      },
    });
    return { provider: PROVIDER, model: 'm', connect, streaming: wholeTurns('m') };
  }

  #byStream() {
    const { interimMs = INTERIM_MS } = this.#script;
    const streaming = deepgramStreaming({
      endpoint: { part: 'stt', provider: PROVIDER, protocol: 'own', apiKey: 'k', guarded: false },
      language: 'en-US',
    })!;
    const connect = async (): Promise<ProviderSocket> =>
      (this.#stream = new ScriptedStream({
        sound: this.#sound,
        clock: this.#clock,
        interimMs,
        understand: (words) => this.#understand(words),
      }));
    return { provider: PROVIDER, model: 'm', connect, streaming };
  }

  #understand(words: readonly string[]): Answered {
    const said = words.join(' ');
    return { text: said, delayMs: DELAY_MS, ...this.#script.understands?.(said, this.#pauses++) };
  }
}

interface ScriptedStreamOptions {
  readonly sound: WordSound;
  readonly clock: FakeClock;
  readonly interimMs: number;
  readonly understand: (words: readonly string[]) => Answered;
}

/** Speaks Deepgram's protocol: an interim at the end of each word, and a final when it is asked for. */
class ScriptedStream implements ProviderSocket {
  readonly #options: ScriptedStreamOptions;
  readonly #received: string[] = [];
  #next = Promise.withResolvers<void>();
  #closed = false;
  /** Sound since the last final: one sample of each that are alike. */
  #samples: number[] = [];
  #seconds = 0;
  #known = 0;
  /** Timers of words that were not asked for yet. */
  #interims: Timer[] = [];

  constructor(options: ScriptedStreamOptions) {
    this.#options = options;
  }

  send(message: string | Uint8Array): void {
    if (typeof message !== 'string') this.#hear(samplesOf(message));
    else if ((JSON.parse(message) as { readonly type: string }).type === 'Finalize') this.#finalize();
  }

  close(): void {
    this.#closed = true;
    this.#next.resolve();
  }

  async *messages(): AsyncGenerator<string> {
    while (!this.#closed) {
      await this.#next.promise;
      this.#next = Promise.withResolvers<void>();
      yield* this.#received.splice(0);
    }
  }

  #hear(samples: Int16Array): void {
    for (const sample of samples) if (sample !== this.#samples.at(-1)) this.#samples.push(sample);
    this.#seconds += samples.length / SAMPLES_PER_SECOND;
    const words = this.#options.sound.wordsIn(Int16Array.from(this.#samples), { complete: false });
    if (words.length <= this.#known) return;
    this.#known = words.length;
    this.#interims.push(this.#answer(this.#options.interimMs, { transcript: words.join(' ') }));
  }

  #finalize(): void {
    const words = this.#options.sound.wordsIn(Int16Array.from(this.#samples));
    this.#samples = [];
    this.#known = 0;
    for (const interim of this.#interims.splice(0)) interim.cancel();
    const { text, delayMs } = this.#options.understand(words);
    this.#answer(delayMs, { transcript: text, is_final: true, from_finalize: true });
  }

  #answer(
    delayMs: number,
    { transcript, ...more }: { readonly transcript: string; readonly is_final?: true; readonly from_finalize?: true },
  ): Timer {
    const message = {
      type: 'Results',
      start: 0,
      duration: this.#seconds,
      is_final: false,
      channel: { alternatives: [{ transcript }] },
      ...more,
    };
    return this.#options.clock.after(delayMs, () => {
      this.#received.push(JSON.stringify(message));
      this.#next.resolve();
    });
  }
}
