/** Runs real processes, with a program in place of calls. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { systemClock, type Clock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logging.ts';
import { eventually } from '../../test/support/eventually.ts';
import { testFolder } from '../../test/support/folders.ts';
import { AcceptedJobs } from '../accepted-jobs.ts';
import { JobProcesses, type JobProcessesOptions } from './job-processes.ts';
import type { RoleServices } from './messages.ts';

/** Ends a call when it is asked to, except those called "stubborn"; the name of the job says what else it does. */
const PROGRAM = `
const jobs = new Set();
const end = (id) => { if (!id.startsWith('stubborn') && jobs.delete(id)) process.send({ case: 'ended', jobId: id }); };
process.on('message', (message) => {
  if (message.case === 'start') {
    const { id } = message.job.job;
    jobs.add(id);
    if (id === 'die') process.kill(process.pid, 'SIGKILL');
    if (id === 'short') end(id);
    if (id === 'throw') process.send({ case: 'worn' });
    if (id === 'ask') process.send({ case: 'ask', id: 1, service: 'infer', args: ['eot', 'sound'] });
  } else if (message.case === 'stop') for (const id of [...jobs]) message.jobId === undefined || message.jobId === id ? end(id) : undefined;
  else if (message.case === 'ping') process.send({ case: 'pong', rssBytes: [...jobs].some((id) => id === 'large') ? 2e9 : 1e6 });
  else if (message.case === 'answer' && message.id < 3)
    process.send({ case: 'ask', id: message.id + 1, service: 'infer', args: ['answer', message.value ?? message.error] });
  else if (message.case === 'exit') process.exit(0);
});
process.send({ case: 'ready' });
`;

/** The clock stands still, so no process is ever silent for long: how quick they are is the machine's affair. */
const clock: Clock = { ...systemClock, monotonic: () => 0 };

const limits = { callsPerProcess: 2, idleProcesses: 1, memoryBytes: 1e9, maxServed: 500 };

let folder: string;
let lines: { readonly msg: string; readonly why?: string }[];
let inferred: unknown[];
let processes: JobProcesses;
let accepted: AcceptedJobs;

async function open(change: Partial<JobProcessesOptions> = {}): Promise<void> {
  const file = join(folder, 'program.cjs');
  await writeFile(file, PROGRAM);
  accepted = new AcceptedJobs(systemClock);
  processes = new JobProcesses({
    file,
    limits,
    services: {
      async infer(method: string, data: unknown) {
        inferred.push([method, data]);
        if (data === 'sound') return { probability: 0.5 };
        throw new Error('no model');
      },
    } as RoleServices,
    clock,
    logger: createLogger({
      role: 'voice',
      level: 'info',
      destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    }),
    startMs: 600_000,
    closeMs: 600_000,
    capacity: 10,
    cores: 2,
    accepted,
    ...change,
  });
  processes.open();
}

function launch(...ids: readonly string[]): void {
  for (const id of ids) {
    accepted.accepted(id);
    processes.launch({ job: { id } } as never);
  }
}

const live = (): readonly string[] => processes.live.map(({ runningJob }) => runningJob.job.id);
const said = (text: string): boolean => lines.some(({ msg, why }) => `${msg} ${why}`.includes(text));

beforeEach(() => {
  folder = testFolder();
  lines = [];
  inferred = [];
});

afterEach(() => processes.close());

it('calls that come at once share processes, and end one by one', async () => {
  await open();
  launch('a', 'b', 'c');
  expect(accepted.size).toBe(3);
  await eventually(() => expect(live().toSorted()).toEqual(['a', 'b', 'c']));
  expect(accepted.size).toBe(0);
  await processes.live.find(({ runningJob }) => runningJob.job.id === 'b')!.close();
  expect(live().toSorted()).toEqual(['a', 'c']);
  expect(lines).toEqual([]);
});

it('the calls of a process that dies are gone, and those of the others are not', async () => {
  await open({ limits: { ...limits, callsPerProcess: 1 } });
  launch('a');
  await eventually(() => expect(live()).toEqual(['a']));
  launch('die', 'b');
  await eventually(() => expect(said('a job process is gone')).toBe(true));
  await eventually(() => expect(live().toSorted()).toEqual(['a', 'b']));
});

it.each(['throw', 'large'])('a process takes no more calls after "%s", and ends after its last', async (id) => {
  await open();
  launch(id);
  await eventually(() => expect(said('takes no more calls and is replaced')).toBe(true));
  launch('a', 'b');
  await eventually(() => expect(live()).toHaveLength(3));
  await processes.live.find(({ runningJob }) => runningJob.job.id === id)!.close();
  expect(live().toSorted()).toEqual(['a', 'b']);
  expect(said('is gone')).toBe(false);
});

it('a process is replaced after many calls', async () => {
  await open({ limits: { ...limits, maxServed: 3 }, capacity: 1 });
  for (let served = 0; served < 4; served += 1) {
    expect(said('it has served 3 calls')).toBe(served === 3);
    launch('short');
    await eventually(() => expect([accepted.size, live()]).toEqual([0, []]), 5);
  }
});

it('a model runs once, for all processes', async () => {
  await open();
  launch('ask');
  await eventually(() =>
    expect(inferred).toEqual([
      ['eot', 'sound'],
      ['answer', { probability: 0.5 }],
      ['answer', 'no model'],
    ]),
  );
});

it('a process that does not end its calls is killed', async () => {
  await open({ closeMs: 100 });
  launch('stubborn');
  await eventually(() => expect(live()).toEqual(['stubborn']));
  await processes.close();
  expect(said('did not end within 0.1 s')).toBe(true);
});

it('one that does not start is tried again', async () => {
  await open();
  await processes.close();
  await open({ file: join(folder, 'later.cjs') });
  await eventually(() => expect(said('is gone')).toBe(true));
  launch('a');
  await writeFile(join(folder, 'later.cjs'), PROGRAM);
  await eventually(() => expect(live()).toEqual(['a']));
});
