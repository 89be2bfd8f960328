/** What an attempt makes of its delivery, which may have been moved while the attempt was on its way. Pure. */
import type { AttemptResult, DeliveryState } from './types.ts';

/** A delivery while results are counted in. */
export interface DeliveryStep {
  state: DeliveryState;
  attempts: number;
  seriesStart: number;
  /** Numbers of the attempts that are written, by when they began, in milliseconds since the epoch. */
  readonly known: Map<number, number>;
  /** Undefined while its state stays as it was found. */
  changed: { readonly reason: string | null; readonly delayMs: number | null } | undefined;
  /** There is a new attempt. */
  counted: boolean;
}

/**
 * Every attempt counts. What it says about the delivery counts unless the delivery was changed meanwhile: one that was replayed
 * goes on with its new series, one that has ended stays so, and one that is paused stays paused until it is resumed. A success of the present
 * series is the truth whatever was decided meanwhile.
 */
export function advance(step: DeliveryStep, result: AttemptResult): void {
  step.attempts += 1;
  step.counted = true;
  if (step.seriesStart !== result.seriesStart) {
    // Not one of the new series' own: it still has all of its attempts before it.
    step.seriesStart += 1;
    return;
  }
  if (step.state === 'succeeded') return;
  const { next } = result;
  if (next.state === 'succeeded') {
    step.state = 'succeeded';
    step.changed = { reason: null, delayMs: null };
    return;
  }
  if (step.state === 'failed' || step.state === 'skipped') return;
  if (next.state === 'failed') {
    step.state = 'failed';
    step.changed = { reason: result.reason.slice(0, 64), delayMs: null };
    return;
  }
  if (step.state === 'paused') return;
  step.state = next.state;
  // While it waits it says why: readers want to know that first.
  step.changed = { reason: result.reason.slice(0, 64), delayMs: 'delayMs' in next ? Math.max(0, next.delayMs) : null };
}
