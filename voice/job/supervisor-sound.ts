/** Records and transcribes what a person says who has taken a call over: on the agent's side of both. */
import type { Room } from '@livekit/rtc-node';

import type { SpokenLine } from '../../calls/live-transcript.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Sound } from '../../platform/wav.ts';
import type { EarEvent } from '../conversation/ports.ts';
import { CallEars, EAR_SAMPLE_RATE, type CallEarsOptions } from '../sound/ears.ts';
import { UserTrack } from '../sound/user-track.ts';

export interface SupervisorSoundOptions extends Pick<CallEarsOptions, 'settings' | 'model' | 'recognizer'> {
  readonly room: Room;
  readonly identity: string;
  /** Called with all sound. @param at when it began, in milliseconds since the epoch */
  readonly onSound: (sound: Sound, at: number) => void;
  readonly onLine: (line: SpokenLine) => void;
  /** Called with what was said between two pauses. @param since when it began, in milliseconds since the epoch */
  readonly onSaid: (text: string, since: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class SupervisorSound {
  readonly #options: SupervisorSoundOptions;
  readonly #ears: CallEars;
  readonly #track: UserTrack;
  #since: number;
  #words: readonly string[] = [];
  #lines = 1;

  constructor(options: SupervisorSoundOptions) {
    this.#options = options;
    const { room, identity, settings, model, recognizer, onSound, clock, logger } = options;
    this.#since = clock.now();
    this.#ears = new CallEars({
      settings,
      model,
      recognizer,
      turnDetector: undefined,
      clock,
      report: (event) => this.#heard(event),
      fail: (err) => {
        logger.warn({ err }, 'failed to understand who has taken the call over; their words are missing in the transcript');
        this.#ears.close();
      },
    });
    this.#track = new UserTrack({
      room,
      identity,
      clock,
      onWindow: (samples, at) => {
        onSound({ samples, sampleRate: EAR_SAMPLE_RATE }, at);
        this.#ears.hear(samples);
      },
      onGone: () => this.#ears.hearNothing(),
    });
  }

  /** Resolves when the last words are known. */
  async close(): Promise<void> {
    this.#track.close();
    await this.#ears.finish();
    this.#ears.close();
    this.#said();
  }

  #heard(event: EarEvent): void {
    const line = { id: `${this.#options.identity}-${this.#lines}`, role: 'agent' } as const;
    switch (event.type) {
      case 'speaks':
        if (this.#words.length === 0) this.#since = event.since;
        return;
      case 'interim':
        return this.#options.onLine({ ...line, text: [...this.#words, event.text].join(' '), final: false });
      case 'understood':
        if (event.text.trim() !== '') this.#words = [...this.#words, event.text.trim()];
        if (!event.more) this.#said();
        return;
      default:
        return;
    }
  }

  #said(): void {
    if (this.#words.length === 0) return;
    const text = this.#words.join(' ');
    this.#words = [];
    this.#options.onLine({ id: `${this.#options.identity}-${this.#lines}`, role: 'agent', text, final: true });
    this.#lines += 1;
    this.#options.onSaid(text, this.#since);
  }
}
