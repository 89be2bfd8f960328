/** The steps of a write, carried out in their order, and undone in the reverse one where a later one fails. */
import { isAway } from './api-server-availability.ts';

/** @returns what the step came to, as far as it has been carried out */
export type ResultOf = <R>(step: Step<R>) => R;

export interface Step<R = unknown> {
  /** Asks the API server whether it would carry the step out, and writes nothing. */
  dryRun?(): Promise<R>;
  run(resultOf: ResultOf): Promise<R>;
  /** @param result undefined where it was this step that failed: a part of it may have been done */
  undo?(result: R | undefined): Promise<unknown>;
  /** Once it is done, it and what came before it stay, whatever fails later. */
  readonly isFinal?: boolean;
  /** However it fails, it has written nothing: what came before it can be undone. */
  readonly isCheck?: boolean;
}

/** Asks the API server for each step, in the order given, whether it would carry it out. */
export async function dryRunSteps(steps: readonly Step[]): Promise<ResultOf> {
  const results = new Map<Step, unknown>();
  for (const step of steps) results.set(step, await step.dryRun?.());
  return resultsIn(results);
}

/**
 * Undoes what was done where a step is refused. Where it is uncertain whether a step happened, nothing is undone: it may rest on what came
 * before it, and the sweeper decides later.
 */
export async function runSteps(steps: readonly Step[]): Promise<ResultOf> {
  const results = new Map<Step, unknown>();
  for (const [index, step] of steps.entries()) {
    try {
      results.set(step, await step.run(resultsIn(results)));
    } catch (error) {
      if (step.isCheck === true || !isAway(error)) await undo(steps.slice(0, index + 1), results);
      throw error;
    }
  }
  return resultsIn(results);
}

/** Steps that don't depend on each other, as one. */
export function together<R>(steps: readonly Step<R>[]): Step<readonly R[]> {
  return {
    dryRun: async () => all(steps.map(async (step) => step.dryRun?.() as Promise<R>)),
    run: (resultOf) => all(steps.map((step) => step.run(resultOf))),
    undo: (results) => all(steps.map(async (step, index) => step.undo?.(results?.[index]))),
  };
}

const resultsIn =
  (results: ReadonlyMap<Step, unknown>): ResultOf =>
  <R>(step: Step<R>) =>
    results.get(step) as R;

async function undo(begun: readonly Step[], results: ReadonlyMap<Step, unknown>): Promise<void> {
  const final = begun.findLastIndex((step) => step.isFinal === true && results.has(step));
  try {
    for (const step of begun.slice(final + 1).toReversed()) await step.undo?.(results.get(step));
  } catch {
    // What can't be undone keeps what it rests on. What nothing rests on the sweeper finds by its marks.
  }
}

/** Nothing goes on when it fails. An uncertain failure counts before a certain one. */
async function all<R>(running: readonly Promise<R>[]): Promise<readonly R[]> {
  const settled = await Promise.allSettled(running);
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  if (failures.length > 0) throw failures.find(isAway) ?? failures[0];
  return Promise.all(running);
}
