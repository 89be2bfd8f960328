/** Measures real calls, with rooms, job processes, Postgres and recordings: their cost, and how soon a caller hears the first word. */
import { treeCpuMs, treeMemory, untilAtRest } from '../harness/process-tree.ts';
import { percentile, summarize } from '../harness/stats.ts';
import { duration, figure, megabytes } from '../harness/table.ts';
import { answerColumns, answerRow, answersOf, type Answers } from './answers.ts';
import { sampleCpu } from './cpu-samples.ts';
import { capacityOf, type VoicePart } from './part.ts';
import { delays } from './provider-delays.ts';

export const webrtc: VoicePart = async ({ host, scale, progress }) => {
  const role = await host.voiceRole(scale);
  const all: Answers[] = [];
  const firstWords: number[] = [];
  const welcomes: number[] = [];
  const atOnce: { readonly calls: number; readonly firstWords: readonly number[]; readonly welcomes: readonly number[] }[] = [];
  const memory: { readonly calls: number; readonly bytes: number }[] = [];
  let joinCpuMs = Number.NaN;
  try {
    const cpuBefore = treeCpuMs(role.pid) ?? Number.NaN;
    for (let index = 0; index < scale.joins; index += 1) {
      if (index % 10 === 0) progress(`joining, ${index} of ${scale.joins}`);
      const [result] = await host.callers({ calls: [await host.call('join')], turns: 0, interruptions: 0 });
      if (result === undefined) continue;
      firstWords.push(result.firstAudio - result.joins);
      welcomes.push(result.welcomeMs);
    }
    await untilAtRest(role.pid);
    joinCpuMs = ((treeCpuMs(role.pid) ?? Number.NaN) - cpuBefore) / scale.joins;
    for (const count of scale.calls) {
      progress(`${count} calls over WebRTC, ${scale.turns} questions each`);
      await untilAtRest(role.pid);
      const calls = await Promise.all(Array.from({ length: count }, (_, index) => host.call(`webrtc-${count}-${index}`)));
      const cpu = sampleCpu(role.pid);
      const seen: number[] = [];
      const watching = setInterval(() => seen.push(treeMemory(role.pid)), 2_000);
      const results = await host.callers({ calls, turns: scale.turns, interruptions: 0 }).finally(() => {
        clearInterval(watching);
        cpu.stop();
      });
      all.push(await answersOf(host, results, cpu));
      memory.push({ calls: count, bytes: percentile(seen, 50) });
      if (count === 1) continue;
      const words = results.map(({ firstAudio, joins }) => firstAudio - joins);
      atOnce.push({ calls: count, firstWords: words, welcomes: results.map(({ welcomeMs }) => welcomeMs) });
    }
  } finally {
    await role.stop();
  }
  // The first call finds nothing warm.
  const warm = firstWords.slice(1);
  const row = (name: string, values: readonly number[]): readonly string[] => [
    name,
    figure(values.length),
    ...[percentile(values, 50), percentile(values, 95), Math.max(...values)].map((ms) => duration(ms)),
  ];
  return {
    figures: {
      delays,
      answers: all,
      firstWords,
      welcomes,
      warm: { ...summarize(warm), p95: percentile(warm, 95) },
      atOnce,
      memory,
      joinCpuMs,
    },
    tables: [
      {
        title: `Answers over WebRTC: ${scale.perProcess} calls in a process`,
        columns: ['', ...answerColumns],
        rows: all.map(answerRow),
        notes: [
          'Added as above, as the caller hears it: the network, both jitter buffers and the encoders are in it. Questions begin when all callers have been welcomed.',
          'The CPU is that of the voice role with all its processes; LiveKit and the callers are not in it.',
          host.cores !== undefined
            ? `The role and its processes have ${host.cores === 1 ? 'one core' : `${host.cores} cores`} together.`
            : 'The role shares all cores: this system has no taskset.',
        ],
      },
      {
        title: 'Memory of the voice role with all its processes',
        columns: ['calls', 'memory', 'for each further call'],
        rows: memory.map(({ calls, bytes }, index) => [
          figure(calls),
          megabytes(bytes),
          index === 0 ? '' : megabytes((bytes - memory[0]!.bytes) / (calls - memory[0]!.calls)),
        ]),
        notes: [
          `What several processes share counts once (PSS). The role takes ${capacityOf(scale)} calls at most (PARLEY_VOICE_CALLS): no process is started for more. A call that begins, is welcomed and ends costs ${duration(joinCpuMs)} of CPU, with the processes that take the place of others.`,
        ],
      },
      {
        title: 'From joining to the first word of the welcome message',
        columns: ['', 'calls', 'p50', 'p95', 'max'],
        rows: [row('one after the other', warm), ...atOnce.map(({ calls, firstWords: words }) => row(`${calls} at once`, words))],
        notes: [
          `From the moment that the caller sets out for the room. ${delays.ttsMs} ms of it are the voice's. The first call is left out.`,
          `Of several callers at once those wait until theirs has started for whom no process is ready: here ${scale.ready} with room for ${scale.perProcess} each are.`,
        ],
      },
      {
        title: 'From the first word of the welcome message to its last',
        columns: ['', 'calls', 'p50', 'p95', 'max'],
        rows: [row('one after the other', welcomes), ...atOnce.map(({ calls, welcomes: lengths }) => row(`${calls} at once`, lengths))],
        notes: ['What is more than of one after the other are holes.'],
      },
    ],
  };
};
