/** Speaks for the agent: its text becomes sound sentence by sentence, and the sound that was played becomes the words that were heard. */
import type { AudioFrame } from '@livekit/rtc-node';

import type { Clock, Timer } from '../../platform/clock.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import { untilAborted } from '../../platform/aborted.ts';
import type { Reports, Voice, VoiceEvent } from '../conversation/ports.ts';
import type { SpeechSynthesizer } from '../providers/tts/speech-synthesizer.ts';
import type { AnswerNormalizer, Sentence, TextNormalizer } from '../text-normalization/index.ts';
import type { Playout, PlayoutOptions } from './playout.ts';
import { Synthesis } from './synthesis.ts';

/** Time after its first word at which an answer is heard, if it can be cut between two words by then, in milliseconds. */
const HURRY_MS = 700;

export interface SpokenVoiceOptions extends Reports<VoiceEvent> {
  readonly synthesizer: Pick<SpeechSynthesizer, 'sentencesAtOnce' | 'request'>;
  readonly normalizer: TextNormalizer;
  readonly playout: (reports: Pick<PlayoutOptions, 'onPlayed' | 'onEnd'>) => Playout;
  readonly clock: Clock;
  /** Called with the text as it is heard, for those who read along. @param final the speech is over */
  readonly onHeard?: ((speech: number, text: string, final: boolean) => void) | undefined;
}

export class SpokenVoice implements Voice {
  #options: SpokenVoiceOptions;
  readonly #playout: Playout;
  readonly #speeches = new Map<number, SpokenText>();
  /** Number of the last told speech. It counts down: told speeches are not the conversation's. */
  #told = 0;
  readonly #telling = new Map<number, () => void>();

  constructor(options: SpokenVoiceOptions) {
    this.#options = options;
    this.#playout = options.playout({
      onPlayed: (speech, ms) => this.#speeches.get(speech)?.played(ms),
      onEnd: (speech) => this.#ended(speech),
    });
  }

  /** Speaks with another voice from now on; what has begun goes on as it began. */
  use(voice: Pick<SpokenVoiceOptions, 'synthesizer' | 'normalizer'>): void {
    this.#options = { ...this.#options, ...voice };
  }

  say(speech: number, text: string): void {
    (this.#speeches.get(speech) ?? this.#begin(speech)).add(text);
  }

  sayNoMore(speech: number): void {
    this.#speeches.get(speech)?.end();
  }

  cancel(speech: number): void {
    const spoken = this.#speeches.get(speech);
    if (spoken === undefined) return this.#options.report({ type: 'silent', speech });
    spoken.abandon();
    this.#playout.cancel(speech);
  }

  pause(): void {
    this.#playout.pause();
  }

  resume(): void {
    this.#playout.resume();
  }

  /** Says something that is not part of the conversation, after the present speech. Resolves when it was heard, or the signal aborts. */
  async tell(text: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const speech = (this.#told -= 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#telling.set(speech, resolve);
    this.say(speech, text);
    this.sayNoMore(speech);
    await untilAborted(promise, signal).catch(() => this.cancel(speech));
  }

  close(): void {
    for (const spoken of this.#speeches.values()) spoken.abandon();
    this.#playout.close();
  }

  #begin(speech: number): SpokenText {
    const { synthesizer, normalizer, clock, report, fail, onHeard } = this.#options;
    const spoken = new SpokenText({
      synthesizer,
      answer: normalizer.answer(),
      clock,
      onFrame: (frame) => this.#playout.add(speech, frame),
      onComplete: () => this.#playout.complete(speech),
      onFailure: fail,
      onHeard: (text) => {
        if (speech < 0) return;
        report({ type: 'heard', speech, characters: text.length });
        onHeard?.(speech, text, false);
      },
    });
    this.#speeches.set(speech, spoken);
    this.#playout.begin(speech);
    return spoken;
  }

  #ended(speech: number): void {
    const spoken = this.#speeches.get(speech);
    this.#speeches.delete(speech);
    this.#telling.get(speech)?.();
    this.#telling.delete(speech);
    if (spoken === undefined || speech < 0) return;
    spoken.over();
    this.#options.report({ type: 'silent', speech });
    this.#options.onHeard?.(speech, spoken.heard, true);
  }
}

interface SpokenTextOptions {
  readonly synthesizer: Pick<SpeechSynthesizer, 'sentencesAtOnce' | 'request'>;
  readonly answer: AnswerNormalizer;
  readonly clock: Clock;
  readonly onFrame: (frame: AudioFrame) => void;
  /** Called when all of its sound is there. */
  readonly onComplete: () => void;
  readonly onFailure: (error: unknown) => void;
  /** Called with the text that was heard. @param text so far */
  readonly onHeard: (text: string) => void;
}

/** Follows one speech from its text to the part of it that was heard. */
class SpokenText {
  readonly #options: SpokenTextOptions;
  readonly #synthesis = new Synthesis();
  readonly #semaphore: Semaphore;
  readonly #gone = new AbortController();
  readonly #complete = new AbortController();
  /** Ends with the sound of the last sentence that was asked for. */
  #sound: Promise<void> = Promise.resolve();
  #asking: Promise<void> = Promise.resolve();
  #hurry: Timer | undefined;
  #before = '';
  #text = '';
  #heard: string | undefined;

  constructor(options: SpokenTextOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(options.synthesizer.sentencesAtOnce);
    this.#synthesis.begin();
  }

  get heard(): string {
    return this.#heard ?? '';
  }

  add(text: string): void {
    const { answer, clock } = this.#options;
    this.#text += text;
    this.#ask(answer.push(text));
    if (answer.isAwaited) this.#hurry ??= clock.after(HURRY_MS, () => this.#ask(answer.hurry()));
    else this.#hurry?.cancel();
  }

  end(): void {
    if (this.#complete.signal.aborted) return;
    this.#hurry?.cancel();
    this.#ask(this.#options.answer.end());
    void this.#finish();
  }

  async #finish(): Promise<void> {
    await this.#asking;
    this.#complete.abort();
    await this.#sound;
    this.#synthesis.end();
    this.#options.onComplete();
  }

  /** Gives the sound up: nobody wants it any more. */
  abandon(): void {
    this.#hurry?.cancel();
    this.#gone.abort();
  }

  played(ms: number): void {
    this.#hear(this.#synthesis.heardIn(ms / 1_000));
  }

  /** Ends the speech, which is silent from now on. */
  over(): void {
    // Text at its end that isn't spoken was heard with it.
    if (!this.#gone.signal.aborted && this.#complete.signal.aborted) this.#hear(this.#text);
  }

  #hear(text: string): void {
    if (this.#heard !== undefined && text.length <= this.#heard.length) return;
    this.#heard = text;
    this.#options.onHeard(text);
  }

  #ask(sentences: readonly Sentence[]): void {
    for (const sentence of sentences)
      this.#asking = this.#asking.then(() => this.#request(sentence)).catch((error: unknown) => this.#failed(error));
  }

  /** Requests a sentence. Resolves when the next one may be asked for. */
  async #request(sentence: Sentence): Promise<void> {
    const { signal } = this.#gone;
    if (signal.aborted || sentence.spoken === '') return;
    const release = await this.#semaphore.acquire(signal);
    const answer = { complete: this.#complete.signal };
    const frames = this.#options.synthesizer.request({ text: sentence.spoken, answer, before: this.#before, signal });
    // The failure is handled when its turn comes.
    frames.catch(() => undefined);
    this.#before += `${sentence.spoken} `;
    this.#sound = this.#sound
      .then(() => this.#take(sentence, frames))
      .catch((error: unknown) => this.#failed(error))
      .finally(release);
  }

  async #take(sentence: Sentence, frames: Promise<AsyncIterable<AudioFrame>>): Promise<void> {
    const { signal } = this.#gone;
    let begins: Sentence | undefined = sentence;
    for await (const frame of await frames) {
      if (signal.aborted) return;
      this.#synthesis.addSound(frame.samplesPerChannel / frame.sampleRate, begins);
      begins = undefined;
      this.#options.onFrame(frame);
    }
  }

  #failed(error: unknown): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort();
    this.#options.onFailure(error);
  }
}
