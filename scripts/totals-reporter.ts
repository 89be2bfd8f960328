import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** A run of vitest leaves these totals for `scripts/test.ts`. */
export interface TestTotals {
  readonly passed: number;
  /** Names of the tests that did not run, in files without a failure. */
  readonly skipped: readonly string[];
  readonly files: readonly { readonly path: string; readonly ms: number }[];
  /** Failed tests, each with the beginning and the end of its error. */
  readonly failures: readonly string[];
}

/** Shortens a program's output: its end says most. */
function gistOf(errors: readonly { readonly message: string; readonly diff?: string }[] | undefined): string {
  const [first] = errors ?? [];
  const lines = stripVTControlCharacters(`${first?.message ?? ''}\n${first?.diff ?? ''}`)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return [...lines.slice(0, 4), ...lines.slice(4).slice(-12)].join('\n');
}

/** Writes the totals of a run to the file named in `PARLEY_TEST_TOTALS`, and each error when it happens: a run that is cut short has none at its end. */
export class TotalsReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'failed') process.stdout.write(`${test.fullName}:\n${errors.map(({ stack, message }) => stack ?? message).join('\n')}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const file = process.env['PARLEY_TEST_TOTALS'];
    if (file === undefined) return;
    let passed = 0;
    const skipped: string[] = [];
    // The errors come serialised: objects without a prototype, which have no text of their own.
    const failures = unhandledErrors.map((error) => `outside of tests: ${gistOf([error as { readonly message: string }])}`);
    for (const module of modules) {
      const before = failures.length;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'skipped' || state === 'pending') {
          // Where a hook has failed, its failure says enough.
          if (module.ok()) skipped.push(`${module.relativeModuleId} > ${test.fullName}`);
        } else {
          const seconds = Math.round((test.diagnostic()?.duration ?? 0) / 1000);
          failures.push(`${module.relativeModuleId} > ${test.fullName} (after ${seconds} s): ${gistOf(errors)}`);
        }
      }
      // A module can fail without a failed test: a syntax error, a hook that threw.
      if (failures.length === before && !module.ok()) failures.push(`${module.relativeModuleId}: ${gistOf(module.errors())}`);
    }
    const files = modules.map((module) => ({ path: module.relativeModuleId, ms: module.diagnostic().duration }));
    writeFileSync(file, JSON.stringify({ passed, skipped, files, failures } satisfies TestTotals));
  }
}
