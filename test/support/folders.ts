/** Makes empty folders for tests, and removes them afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, onTestFinished } from 'vitest';

function newFolder(whenOver: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'));
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a folder for the test that runs, also in its `beforeEach`. */
export const testFolder = (): string => newFolder(onTestFinished);

/** Makes a folder for the file or `describe` that calls it, outside of tests and hooks. */
export const suiteFolder = (): string => newFolder(afterAll);
