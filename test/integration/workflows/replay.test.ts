import { readdirSync, readFileSync } from 'node:fs';

import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';

import { sharedBundle } from './support.ts';

const folder = new URL('./histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));

const replay = async (history: unknown): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle: await sharedBundle() }, history, 'replayed');

describe('workflows that were begun by an earlier version', () => {
  it('has histories to go by', () => {
    expect(files.length).toBeGreaterThanOrEqual(3);
  });

  it.each(files)('goes on with %s the way it began', async (file) => {
    await expect(replay(JSON.parse(readFileSync(new URL(file, folder), 'utf8')))).resolves.toBeUndefined();
  });

  it('would notice steps in another order or under another name', async () => {
    const text = readFileSync(new URL('housekeeping-two-failed.json', folder), 'utf8');
    await expect(replay(JSON.parse(text.replaceAll('organizationsAfter', 'organizationsBefore')))).rejects.toThrow(
      DeterminismViolationError,
    );
  });
});
