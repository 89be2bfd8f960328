/** Runs processes of callers: each gets its plan and reports what its callers heard. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { sampleCpu, type CpuSamples } from './cpu-samples.ts';
import type { CallResult, CallersPlan } from './plan.ts';

/** Most callers of a process: with more rooms in its event loop a caller hears the agent late, and the agent seems slow. */
const CALLERS_IN_A_PROCESS = 4;

export interface CallersProgram {
  readonly file: string;
  readonly args: readonly string[];
}

/** Runs callers in as many processes as they need; none asks before all were welcomed. @throws Error with one process's complaint */
export async function callTogether(program: CallersProgram, plan: CallersPlan): Promise<readonly CallResult[]> {
  const started = Array.from({ length: Math.ceil(plan.calls.length / CALLERS_IN_A_PROCESS) }, (_, index) =>
    start(program, { ...plan, calls: plan.calls.slice(index * CALLERS_IN_A_PROCESS, (index + 1) * CALLERS_IN_A_PROCESS) }),
  );
  try {
    await Promise.all(started.map(({ child, ended }) => Promise.race([once(child, 'message'), ended])));
    for (const { child } of started) child.send('ask');
    return (await Promise.all(started.map(({ ended }) => ended))).flat();
  } finally {
    for (const { child } of started) child.kill('SIGKILL');
  }
}

/** Runs callers in one process, which is measured. @throws Error with its complaint */
export async function callInOne(
  program: CallersProgram,
  plan: CallersPlan,
): Promise<{ readonly results: readonly CallResult[]; readonly cpu: CpuSamples }> {
  const { child, ended } = start(program, plan);
  const cpu = sampleCpu(child.pid ?? 0);
  const results = await ended.finally(() => cpu.stop());
  return { results, cpu };
}

function start({ file, args }: CallersProgram, plan: CallersPlan) {
  const child = spawn(file, args, { env: { ...process.env, NODE_ENV: 'production' }, stdio: ['pipe', 'pipe', 'pipe', 'ipc'] });
  child.stdin!.end(JSON.stringify(plan));
  const ended = (async (): Promise<readonly CallResult[]> => {
    const [out, complaints, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
    if (code !== 0) throw new Error(`the callers have ended with exit code ${code}: ${complaints.slice(-2_000)}`);
    // LiveKit's client writes lines of its own.
    return JSON.parse(out.slice(out.lastIndexOf('\n[') + 1)) as readonly CallResult[];
  })();
  // Only one of several failures is reported.
  ended.catch(() => undefined);
  return { child, ended };
}
