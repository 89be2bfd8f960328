/** The steps of a write, carried out in their order, and undone in the reverse one where one of them is refused. */
import { isAway } from './api-server-availability.ts';

/** @returns what an earlier step came to */
export type ResultOf = <R>(step: Step<R>) => R;

export interface Step<R = unknown> {
  /** @param dryRun only asks the API server whether it would carry the step out */
  run(resultOf: ResultOf, dryRun: boolean): Promise<R>;
  /** @param result undefined where this very step failed: a part of it may have been done */
  undo?(result: R | undefined): Promise<unknown>;
  /** Once it is done, it and what came before it stay, whatever fails later. */
  readonly isFinal?: boolean;
  /** However it fails, it has written nothing that rests on what came before it. */
  readonly isCheck?: boolean;
}

/**
 * Where it is uncertain whether a step happened, nothing is undone: it may be in use together with what came before it, and the sweeper
 * decides later.
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
    // What can't be undone keeps what it rests on; the sweeper finds by its marks what nothing rests on.
  }
}

/** Steps that don't depend on each other, as one. */
export function together<R>(steps: readonly Step<R>[]): Step<readonly R[]> {
  return {
    run: (...args) => all(steps.map((step) => step.run(...args))),
    undo: (results) => all(steps.map(async (step, index) => step.undo?.(results?.[index]))),
  };
}

/** Nothing goes on when it fails. An uncertain failure counts before a certain one. */
async function all<R>(running: readonly Promise<R>[]): Promise<readonly R[]> {
  const settled = await Promise.allSettled(running);
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  if (failures.length > 0) throw failures.find(isAway) ?? failures[0];
  return Promise.all(running);
}
