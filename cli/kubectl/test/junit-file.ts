import { writeFile } from 'node:fs/promises';

import { junitReport } from '../../../agent-tests/reports/junit.ts';
import type { ReportedResult } from '../../../agent-tests/reports/report.ts';
import { UserError } from '../../../platform/user-error.ts';

/** Writes the file of `--junit`. @throws UserError with this exit code where it can't be written */
export async function writeJunit(file: string, results: readonly ReportedResult[], durationMs: number, exitCode = 1): Promise<void> {
  try {
    await writeFile(file, junitReport(results, durationMs));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new UserError(`the report ${file} can't be written: ${why}`, { cure: 'name another file with --junit', exitCode, cause });
  }
}
