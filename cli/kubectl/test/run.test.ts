import { expect, it } from 'vitest';

import { UserError } from '../../../platform/user-error.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { processIo } from '../io.ts';
import { testInCluster } from './run.ts';

it('follows a run past readings that get no answer', async () => {
  const run = { _id: 'run_1', ai_agent_id: 'desk', revision: 'a', results: [] };
  const answers: (() => Promise<unknown>)[] = [
    () => Promise.resolve({ ...run, state: 'running' }),
    () => Promise.reject(new UserError('the api does not answer')),
    () => Promise.resolve({ ...run, state: 'finished', verdict: 'passed' }),
  ];
  const asked: string[] = [];
  const request = (method: string, path: string): Promise<unknown> => {
    asked.push(`${method} ${path}`);
    return answers.shift()!();
  };
  const io = { ...processIo(new AbortController().signal), out: { write: () => true } };
  const test = { agent: 'desk', tests: [], revision: 'serving', junit: undefined, format: 'table' } as const;
  const clock = new FakeClock();
  const passed = testInCluster({ request }, test, io, clock);
  await clock.advanceUntil(() => answers.length === 0);
  expect(await passed).toBe(true);
  expect(asked).toEqual(['POST /v2/ai-agents/desk/test-runs', 'GET /v1/test-runs/run_1', 'GET /v1/test-runs/run_1']);
});
