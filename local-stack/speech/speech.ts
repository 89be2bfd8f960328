/** Speaking and listening, as well as this machine can: with espeak-ng and pocketsphinx, or with tones and guesses. */
import { execFile } from 'node:child_process';

import { readWav, type Sound } from '../../platform/wav.ts';
import type { Helper } from './helper.ts';
import { baseOf, isEnglish, Phrases } from './phrases.ts';
import { SPOKEN_RATE } from './provider-protocol.ts';
import { hash, melody, resample, trimmed } from './sound.ts';

export interface Heard {
  readonly text: string;
  /** Not one of the phrases that are listened for: what a general model, or the length alone, makes of it. */
  readonly doubtful: boolean;
}

export interface SpeechOptions {
  /** Without one there is neither voice nor ear but what follows. */
  readonly helper?: Helper;
  /** What of the helper does not work. */
  readonly problems?: Readonly<Record<string, string>>;
  /** `espeak-ng` on PATH. */
  readonly espeak?: string;
}

const HEARD_RATE = 16_000;

/** Voices of espeak-ng that sound different and are understood; a name always gets the same one. */
const VARIANTS = ['f3', 'f2', 'm3', 'f4'] as const;

/** Transcripts without a recogniser: one after the other. */
const SCRIPT = ['Hello, can you hear me?', 'What can you do for me?', 'Where is my order 4711?', 'Thank you.', 'Good bye.'] as const;

export class Speech {
  readonly #options: SpeechOptions;
  readonly #phrases = new Phrases();
  #scripted = 0;

  constructor(options: SpeechOptions) {
    this.#options = options;
  }

  get canSpeak(): boolean {
    return (this.#options.helper !== undefined && this.#options.problems?.['voice'] === undefined) || this.#options.espeak !== undefined;
  }

  get canHear(): boolean {
    return this.#options.helper !== undefined && this.#options.problems?.['ear'] === undefined;
  }

  /** Samples of one channel at {@link SPOKEN_RATE}. */
  async speak({
    text,
    language,
    voice,
  }: {
    readonly text: string;
    readonly language: string;
    readonly voice: string;
  }): Promise<Int16Array> {
    const samples = await this.#spoken(text, language, VARIANTS[voice === '' ? 0 : hash(voice) % VARIANTS.length]!);
    this.#phrases.remember({ text, language, seconds: trimmed(samples).length / SPOKEN_RATE });
    return samples;
  }

  async hear(sound: Sound, language: string | undefined): Promise<Heard> {
    const samples = trimmed(resample(sound.samples, sound.sampleRate, HEARD_RATE));
    const seconds = samples.length / HEARD_RATE;
    if (seconds < 0.1) return { text: '', doubtful: false };
    const own = this.#phrases.byLength(seconds, language);
    if (!this.canHear) return { text: own ?? this.#next(), doubtful: true };
    // It knows English alone.
    if (language !== undefined && !isEnglish(language)) return { text: own ?? '', doubtful: true };
    const forms = this.#phrases.forms();
    const answer = await this.#options.helper!.ask({ do: 'hear', pcm: base64(samples), phrases: [...forms.keys()] });
    const text = typeof answer['text'] === 'string' ? answer['text'] : '';
    return { text: forms.get(text) ?? text, doubtful: answer['certain'] !== true };
  }

  /** The words so far of a known phrase that is being said; empty where none begins like that. */
  async partial(sound: Sound, language: string | undefined): Promise<string> {
    if (!this.canHear || (language !== undefined && !isEnglish(language))) return '';
    const samples = trimmed(resample(sound.samples, sound.sampleRate, HEARD_RATE));
    const answer = await this.#options.helper!.ask({ do: 'partial', pcm: base64(samples), phrases: [...this.#phrases.forms().keys()] });
    return typeof answer['text'] === 'string' ? answer['text'] : '';
  }

  async #spoken(text: string, language: string, variant: string): Promise<Int16Array> {
    const { helper, problems, espeak } = this.#options;
    if (helper !== undefined && problems?.['voice'] === undefined) {
      const { pcm, rate } = await helper.ask({ do: 'speak', text, language, variant });
      return resample(samplesOf(Buffer.from(String(pcm), 'base64')), Number(rate), SPOKEN_RATE);
    }
    if (espeak === undefined) return melody(text, SPOKEN_RATE);
    const sound = await this.#byProgram(espeak, text, language, variant);
    return resample(sound.samples, sound.sampleRate, SPOKEN_RATE);
  }

  async #byProgram(espeak: string, text: string, language: string, variant: string): Promise<Sound> {
    for (const voice of [language.toLowerCase(), baseOf(language), 'en-us']) {
      const file = await new Promise<Buffer | undefined>((resolve) => {
        const child = execFile(
          espeak,
          ['-v', `${voice}+${variant}`, '-s', '150', '--stdout'],
          { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024, timeout: 30_000 },
          (error, stdout) => resolve(error === null && stdout.length > 44 ? stdout : undefined),
        );
        child.stdin?.on('error', () => undefined);
        child.stdin?.end(text);
      });
      if (file !== undefined) return readWav(file);
    }
    return { samples: melody(text, SPOKEN_RATE), sampleRate: SPOKEN_RATE };
  }

  #next(): string {
    const text = SCRIPT[this.#scripted % SCRIPT.length] ?? '';
    this.#scripted += 1;
    return text;
  }
}

const base64 = (samples: Int16Array): string => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64');

/** A byte that is half of a sample is left out. */
export const samplesOf = (bytes: Buffer): Int16Array =>
  new Int16Array(Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).buffer);
