/** Listens to who has answered an outbound call, until that is decided. */
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { EarEvent } from '../conversation/ports.ts';
import { classifyWith, type ClassifyOptions } from './classify-callee.ts';
import {
  initial,
  step,
  type CalleeCategory,
  type DetectionEffect,
  type DetectionEvent,
  type DetectionState,
} from './voicemail-detection.ts';

/** Categories that are machines. A menu is none: the agent talks to it. */
const MACHINES: ReadonlySet<CalleeCategory> = new Set(['voicemail', 'unavailable']);

/** Returns whether nobody listens: voicemail has answered, or an announcement that the callee is unavailable. */
export const isMachine = (category: CalleeCategory): boolean => MACHINES.has(category);

export interface ScreeningOptions {
  readonly model: ClassifyOptions['model'];
  /** Longest time that detection listens, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once at most. */
  readonly onDecided: (category: CalleeCategory) => void;
}

export class Screening {
  readonly #options: ScreeningOptions;
  readonly #classify: ReturnType<typeof classifyWith>;
  readonly #over = new AbortController();
  #state: DetectionState;
  #timer: Timer | undefined;

  constructor(options: ScreeningOptions) {
    this.#options = options;
    this.#classify = classifyWith(options);
    this.#state = initial({ timeoutMs: options.timeoutMs });
  }

  begin(): void {
    this.#happened({ type: 'answered' });
  }

  hear(event: EarEvent): void {
    if (event.type === 'speaks' || event.type === 'pauses' || event.type === 'understood') this.#happened(event);
  }

  /** Stops listening. Idempotent. */
  stop(): void {
    this.#happened({ type: 'stopped' });
    this.#over.abort();
  }

  #happened(event: DetectionEvent): void {
    const { state, effects } = step(this.#state, event, this.#options.clock.now());
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: DetectionEffect): void {
    const { clock, logger, onDecided } = this.#options;
    if (effect.type === 'classify') {
      const { text } = effect;
      void this.#classify(text, this.#over.signal).then((category) => this.#happened({ type: 'classified', text, category }));
      return;
    }
    this.#timer?.cancel();
    if (effect.type === 'wait') this.#timer = clock.after(effect.ms, () => this.#happened({ type: 'waited' }));
    if (effect.type !== 'decided') return;
    const { category, delayMs } = effect;
    this.#over.abort();
    logger.info({ category, delayMs }, 'voicemail detection has decided');
    onDecided(category);
  }
}
