/**
 * Turns the user's sound, window by window, into events of the conversation. One reader for voice activity, speech to text and the
 * end-of-turn detector.
 */
import { setImmediate } from 'node:timers/promises';

import type { Clock } from '../../platform/clock.ts';
import type { EarEvent, Ears } from '../conversation/ports.ts';
import type { Recognition, SpeechRecognizer } from '../providers/stt/recognition.ts';
import { joinSamples } from './join-samples.ts';
import { HEARD_SAMPLES, type TurnDetector } from './turn-detector.ts';
import {
  hearNothing,
  hearWindow,
  SILENT,
  WINDOW_MS,
  type VoiceActivity,
  type VoiceActivitySettings,
  type VoiceChange,
} from './voice-activity.ts';

/** Sample rate of the sound that ears hear, in Hz. */
export const EAR_SAMPLE_RATE = 16_000;

/** A model that remembers the windows before. */
export interface WindowModel {
  /** Returns how likely it is that somebody speaks, 0 to 1. @param window of {@link WINDOW_MS} */
  predict(window: Int16Array): Promise<number>;
}

export interface CallEarsOptions {
  readonly settings: VoiceActivitySettings;
  readonly model: WindowModel;
  readonly recognizer: Pick<SpeechRecognizer, 'listen'>;
  /** Absent where turns end after a fixed silence. */
  readonly turnDetector: Pick<TurnDetector, 'delayMs'> | undefined;
  readonly clock: Clock;
  readonly report: (event: EarEvent) => void;
  /** Called when nothing is understood any more. */
  readonly fail: (error: unknown) => void;
}

export class CallEars implements Ears {
  #options: CallEarsOptions;
  #recognition: Recognition;
  /** The recogniser of an agent that has taken over, until the words of the last sound are there. */
  #next: CallEarsOptions['recognizer'] | undefined;
  /** Windows that have come and are not looked at yet: after a stall of the process all of them come at once. */
  readonly #unread: Int16Array[] = [];
  /** The last windows, for the end-of-turn detector. */
  #last: Int16Array[] = [];
  #voice: VoiceActivity = SILENT;
  #reading: Promise<void> | undefined;
  /** Number of sounds so far: findings about a pause are of no use after the next sound. */
  #sounds = 0;
  /** True if all words of the last pause have come, also where the silence is not long enough for one yet. */
  #settled = false;
  #deaf = false;
  #finishing = false;
  /** Called when no words are due any more. */
  #onKnown: () => void = () => undefined;
  #closed = false;

  constructor(options: CallEarsOptions) {
    this.#options = options;
    this.#recognition = this.#listen(options.recognizer);
  }

  /** Listens as another agent does from now on. Words that are being recognised come from the recogniser that has heard them. */
  use({ recognizer, ...settings }: Pick<CallEarsOptions, 'recognizer' | 'settings' | 'turnDetector'>): void {
    this.#options = { ...this.#options, ...settings };
    this.#next = recognizer;
    this.#takeNext();
  }

  /** Takes the next recogniser, once nothing is said and no words are owed. */
  #takeNext(): void {
    if (this.#next === undefined || this.#closed || this.#finishing || this.#voice.speaking || this.#recognition.recognizes) return;
    this.#recognition.close();
    this.#recognition = this.#listen(this.#next);
    this.#next = undefined;
  }

  #listen(recognizer: CallEarsOptions['recognizer']): Recognition {
    const { report, fail } = this.#options;
    const recognition = recognizer.listen((event) => {
      if (this.#closed || this.#recognition !== recognition) return;
      if (!recognition.recognizes) this.#onKnown();
      if (event.type === 'failed') return fail(event.error);
      this.#settled = event.type !== 'interim' && !recognition.recognizes;
      if (this.#deaf) return;
      if (event.type === 'interim') report({ type: 'interim', text: event.text });
      else if (event.type === 'final') report({ type: 'understood', text: event.text, more: recognition.recognizes });
      else if (event.type === 'settled' && !recognition.recognizes) report({ type: 'understood', text: '', more: false });
      this.#takeNext();
    });
    return recognition;
  }

  /** Hears a window. @param window of {@link WINDOW_MS} at {@link EAR_SAMPLE_RATE} */
  hear(window: Int16Array): void {
    if (this.#closed || this.#finishing || this.#deaf) return;
    this.#recognition.push(window);
    this.#unread.push(window);
    this.#reading ??= this.#read().catch((error: unknown) => this.#broken(error));
  }

  /** Notes that there is no track to listen to any more. */
  hearNothing(): void {
    void this.caughtUp().then(() => this.#take(hearNothing(this.#voice)));
  }

  /** Hears nothing, and drops what was being said. @returns ends it */
  deafen(): () => void {
    this.#deaf = true;
    this.#unread.length = 0;
    if (this.#voice.speaking) this.#recognition.pauses();
    this.#voice = SILENT;
    this.#sounds += 1;
    return () => (this.#deaf = false);
  }

  get deaf(): boolean {
    return this.#deaf;
  }

  async caughtUp(): Promise<void> {
    // Node.js runs timers that are due before it takes what has come, and the track hands on a turn later what comes in one.
    await setImmediate();
    await setImmediate();
    await this.#reading;
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    await this.caughtUp();
    this.#take(hearNothing(this.#voice));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onKnown = resolve;
    if (this.#recognition.recognizes) await promise;
  }

  close(): void {
    this.#closed = true;
    this.#unread.length = 0;
    this.#recognition.close();
  }

  async #read(): Promise<void> {
    for (let window = this.#unread[0]; window !== undefined; window = this.#unread[0]) {
      const probability = await this.#options.model.predict(window);
      if (this.#unread[0] !== window) continue;
      this.#unread.shift();
      this.#last = [...this.#last, window].slice(-Math.ceil(HEARD_SAMPLES / window.length));
      this.#take(hearWindow(this.#voice, probability, this.#options.settings));
    }
    this.#reading = undefined;
  }

  /** Reports a failure of voice activity, without which nobody knows when the user speaks. */
  #broken(error: unknown): void {
    this.#finishing = true;
    this.#unread.length = 0;
    this.#options.fail(error);
  }

  #take({ now, changes }: ReturnType<typeof hearWindow>): void {
    this.#voice = now;
    for (const change of changes) this.#changed(change);
    this.#takeNext();
  }

  #changed(change: VoiceChange): void {
    const { clock, report } = this.#options;
    switch (change.type) {
      case 'speaks':
        this.#sounds += 1;
        this.#goesOn();
        return report({ type: 'speaks', since: clock.now() - this.#unreadMs - change.agoMs });
      case 'goesOn':
        return this.#goesOn();
      case 'lasts':
        return report({ type: 'lasts' });
      case 'hushes':
        return this.#recognition.byRequest ? undefined : this.#askForWords();
      case 'pauses':
        if (this.#recognition.byRequest) this.#askForWords();
        report({ type: 'pauses', spokenMs: change.spokenMs });
        // The words came before the silence was long enough for a pause.
        if (this.#settled) report({ type: 'understood', text: '', more: false });
        return void this.#detectTurn();
    }
  }

  #goesOn(): void {
    this.#settled = false;
    this.#recognition.speaks(this.#unreadMs);
  }

  #askForWords(): void {
    this.#settled = false;
    this.#recognition.pauses();
  }

  async #detectTurn(): Promise<void> {
    const { turnDetector, report } = this.#options;
    const sound = this.#sounds;
    // The model refuses more than it hears.
    const afterMs = await turnDetector?.delayMs(joinSamples(this.#last).subarray(-HEARD_SAMPLES));
    if (afterMs !== undefined && sound === this.#sounds && !this.#closed) report({ type: 'turnEnds', afterMs });
  }

  get #unreadMs(): number {
    return this.#unread.length * WINDOW_MS;
  }
}
