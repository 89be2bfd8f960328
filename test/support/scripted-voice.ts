/** Plays text to speech in virtual time, and who hears it: each sample is the number of the character that it says. */
import type { AudioFrame } from '@livekit/rtc-node';

import { sleep } from '../../platform/clock.ts';
import type { SpeechSource } from '../../voice/providers/tts/speech-source.ts';
import { PLAYOUT_SAMPLE_RATE, type SoundSink } from '../../voice/sound/playout.ts';
import type { FakeClock } from './fake-clock.ts';

export interface SentenceScript {
  /** Milliseconds to the first sound; default 100. */
  readonly delayMs?: number;
  /** Length of a character; default 60. */
  readonly msPerCharacter?: number;
  /** Factor by which the sound comes faster than it is heard: with 4, four seconds of sound come in one; default all at once. */
  readonly speed?: number;
}

export type VoiceScript = (sentence: string) => SentenceScript;

const PER_MS = PLAYOUT_SAMPLE_RATE / 1_000;
const CHUNK_MS = 100;

/** One sentence, and how much of it was heard. */
export interface HeardSentence {
  /** The whole sentence. */
  readonly sentence: string;
  /** Characters of which at least half was heard. */
  readonly text: string;
  /** Times of the first and the last sound, in milliseconds by the monotonic clock. */
  readonly from: number;
  readonly until: number;
  /** Milliseconds for which it was heard: pauses don't count, and sound that is heard again does. */
  readonly ms: number;
}

export class ScriptedVoice {
  readonly #script: VoiceScript;
  readonly #clock: FakeClock;
  readonly #sentences: SpokenSentence[] = [];
  /** Characters by number; the first one is silence. */
  readonly #characters: (readonly [SpokenSentence, number] | undefined)[] = [undefined];
  readonly source: SpeechSource;
  readonly sink: SoundSink;

  constructor(script: VoiceScript, clock: FakeClock) {
    this.#script = script;
    this.#clock = clock;
    this.source = {
      model: 'm',
      atOnce: 2,
      connect: () => undefined,
      soundOf: ({ text }, signal) => this.#soundOf(text, signal),
      close: () => undefined,
    };
    this.sink = new CallerEar(clock, (number, from, samples) => this.#heard(number, from, samples));
  }

  /** Sentences for which sound was asked. */
  get asked(): readonly string[] {
    return this.#sentences.map(({ sentence }) => sentence);
  }

  /** Sentences of which something was heard, in the order in which they were asked for. */
  get heard(): readonly HeardSentence[] {
    // The caller hears as far as the clock is.
    void this.sink.queuedDuration;
    return this.#sentences.filter(({ isHeard }) => isHeard);
  }

  async *#soundOf(text: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const { delayMs = 100, msPerCharacter = 60, speed } = this.#script(text);
    const first = this.#characters.length;
    const length = Math.round(msPerCharacter * PER_MS);
    const sentence = new SpokenSentence(text, length);
    this.#sentences.push(sentence);
    for (let index = 0; index < text.length; index += 1) this.#characters.push([sentence, index]);
    await sleep(this.#clock, delayMs, signal);
    const samples = Int16Array.from({ length: text.length * length }, (_, index) => first + Math.floor(index / length));
    for (let at = 0; at < samples.length; at += CHUNK_MS * PER_MS) {
      const chunk = samples.slice(at, at + CHUNK_MS * PER_MS);
      yield new Uint8Array(chunk.buffer);
      if (speed !== undefined) await sleep(this.#clock, CHUNK_MS / speed, signal);
    }
  }

  #heard(number: number, from: number, samples: number): void {
    const [sentence, index] = this.#characters[number]!;
    sentence.hear(index, from, samples);
  }
}

class SpokenSentence implements HeardSentence {
  readonly sentence: string;
  /** Samples that each character has, and samples that were heard. */
  readonly #length: number;
  readonly #heard: number[];
  #from: number | undefined;
  #until = 0;

  constructor(sentence: string, length: number) {
    this.sentence = sentence;
    this.#length = length;
    this.#heard = Array.from({ length: sentence.length }, () => 0);
  }

  hear(index: number, from: number, samples: number): void {
    this.#heard[index]! += samples;
    this.#from ??= from;
    this.#until = from + samples / PER_MS;
  }

  get isHeard(): boolean {
    return this.#from !== undefined;
  }

  get text(): string {
    return this.sentence
      .split('')
      .filter((_, index) => 2 * this.#heard[index]! >= this.#length)
      .join('');
  }

  get from(): number {
    return this.#from ?? Infinity;
  }

  get until(): number {
    return this.#until;
  }

  get ms(): number {
    return this.#heard.reduce((sum, samples) => sum + samples, 0) / PER_MS;
  }
}

/** Hears the sound that it has been given, in the time of the clock. */
class CallerEar implements SoundSink {
  readonly #clock: FakeClock;
  readonly #onHeard: (number: number, from: number, samples: number) => void;
  #queue: Int16Array[] = [];
  /** Time up to which it has heard, in milliseconds. */
  #at = 0;

  constructor(clock: FakeClock, onHeard: (number: number, from: number, samples: number) => void) {
    this.#clock = clock;
    this.#onHeard = onHeard;
  }

  get queuedDuration(): number {
    this.#hear();
    return this.#queue.reduce((sum, { length }) => sum + length, 0) / PER_MS;
  }

  async captureFrame({ data }: AudioFrame): Promise<void> {
    this.#hear();
    this.#queue.push(data);
  }

  clearQueue(): void {
    this.#hear();
    this.#queue = [];
  }

  #hear(): void {
    const now = this.#clock.monotonic();
    let left = Math.round((now - this.#at) * PER_MS);
    while (left > 0 && this.#queue[0] !== undefined) {
      const [first] = this.#queue;
      const part = first.subarray(0, left);
      this.#hearPart(part);
      if (part.length < first.length) this.#queue[0] = first.subarray(part.length);
      else this.#queue.shift();
      left -= part.length;
    }
    this.#at = now;
  }

  #hearPart(samples: Int16Array): void {
    for (let at = 0; at < samples.length;) {
      const number = samples[at]!;
      let end = at + 1;
      while (samples[end] === number) end += 1;
      this.#onHeard(number, this.#at, end - at);
      this.#at += (end - at) / PER_MS;
      at = end;
    }
  }
}
