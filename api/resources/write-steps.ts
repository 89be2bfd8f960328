/** Runs the steps of a write in their order, and undoes them in the reverse one where one of them is refused. */
import { isAway } from './api-server-availability.ts';

export type ResultOf = <R>(step: Step<R>) => R;

export interface Step<R = unknown> {
  /** @param dryRun whether to ask the API server only if it would carry the step out */
  run(resultOf: ResultOf, dryRun: boolean): Promise<R>;
  /** @param result undefined where this very step failed: a part of it may have been done */
  undo?(result: R | undefined): Promise<unknown>;
  /** Set where, once this step is done, it and those before it stay, whatever fails later. */
  readonly isFinal?: boolean;
  /** Set where the step, however it fails, has written nothing that rests on those before it. */
  readonly isCheck?: boolean;
}

/**
 * Runs the steps. Where it is uncertain whether a step happened, none is undone: it may be in use together with those before it, and the
 * sweeper decides later.
 */
export async function runSteps(steps: readonly Step[], { dryRun = false } = {}): Promise<ResultOf> {
  const results = new Map<Step, unknown>();
  const resultOf = <R>(step: Step<R>): R => results.get(step) as R;
  for (const [index, step] of steps.entries()) {
    try {
      results.set(step, await step.run(resultOf, dryRun));
    } catch (error) {
      if (!dryRun && (step.isCheck === true || !isAway(error))) await undo(steps.slice(0, index + 1), results);
      throw error;
    }
  }
  return resultOf;
}

async function undo(begun: readonly Step[], results: ReadonlyMap<Step, unknown>): Promise<void> {
  const final = begun.findLastIndex((step) => step.isFinal === true && results.has(step));
  try {
    for (const step of begun.slice(final + 1).toReversed()) await step.undo?.(results.get(step));
  } catch {
    // A step that can't be undone keeps the ones it rests on; by the marks the sweeper finds those on which nothing rests.
  }
}

/** Joins steps that don't depend on each other into one. */
export function together<R>(steps: readonly Step<R>[]): Step<readonly R[]> {
  return {
    run: (...args) => all(steps.map((step) => step.run(...args))),
    undo: (results) => all(steps.map(async (step, index) => step.undo?.(results?.[index]))),
  };
}

/** Waits for all, so that none goes on after a failure. An uncertain failure counts before a certain one. */
async function all<R>(running: readonly Promise<R>[]): Promise<readonly R[]> {
  const settled = await Promise.allSettled(running);
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  if (failures.length > 0) throw failures.find(isAway) ?? failures[0];
  return Promise.all(running);
}
