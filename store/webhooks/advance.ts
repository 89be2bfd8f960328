/** Applies the result of an attempt to its delivery, which may have been moved while the attempt was on its way. Pure. */
import type { AttemptResult, DeliveryState } from './types.ts';

/** A delivery while results are applied to it. */
export interface DeliveryStep {
  state: DeliveryState;
  attempts: number;
  seriesStart: number;
  /** Numbers of stored attempts by their start, in milliseconds since the epoch. */
  readonly known: Map<number, number>;
  /** The decision about the delivery; undefined while its state is the one that was found. */
  changed: { readonly reason: string | null; readonly delayMs: number | null } | undefined;
  /** True if there is a new attempt. */
  counted: boolean;
}

/**
 * Counts the attempt. Its result decides about the delivery unless that was changed meanwhile: a replayed one goes on with its new series,
 * one that has ended stays so, and a paused one stays paused until it is resumed. A success of the present series counts whatever was
 * decided meanwhile.
 */
export function advance(step: DeliveryStep, result: AttemptResult): void {
  step.attempts += 1;
  step.counted = true;
  if (step.seriesStart !== result.seriesStart) {
    // The attempt isn't one of the new series, which still has all of its attempts before it.
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
  // A waiting delivery shows the reason of its last failure: readers want to know that first.
  step.changed = { reason: result.reason.slice(0, 64), delayMs: 'delayMs' in next ? Math.max(0, next.delayMs) : null };
}
