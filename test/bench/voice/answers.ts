/** Measures how long answers took, and what they cost, over several calls at once. */
import { percentile, summarize, type Distribution } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import { addedLatency, voiceToVoice } from './added-latency.ts';
import { waitMs } from './agent.ts';
import type { CpuSamples } from './cpu-samples.ts';
import type { VoiceHost } from './host.ts';
import type { CallResult } from './plan.ts';

export interface Answers {
  readonly calls: number;
  readonly added: Distribution & { readonly p95: number };
  readonly v2v: Distribution & { readonly p95: number };
  readonly unanswered: number;
  /** Share of one core, for each call that talks. */
  readonly cpuPerCall: number | undefined;
}

const summary = (values: readonly number[]) => ({ ...summarize(values), p95: percentile(values, 95) });

export async function answersOf(host: VoiceHost, results: readonly CallResult[], cpu: CpuSamples): Promise<Answers> {
  const added: number[] = [];
  for (const { caller, turns } of results) {
    const busy = await host.busy(caller);
    added.push(...turns.map((turn) => addedLatency(turn, { waitMs, busy })));
  }
  // Measures while all of them talk, and the processes that stand in for theirs have come up.
  const from = Math.max(...results.map(({ turns }) => turns[Math.min(2, turns.length - 1)]?.asked ?? 0));
  const to = Math.min(...results.map(({ turns }) => turns.at(-1)?.answered ?? 0));
  const cores = cpu.coresWithin({ from, to });
  return {
    calls: results.length,
    added: summary(added),
    v2v: summary(results.flatMap(({ turns }) => turns.map(voiceToVoice))),
    unanswered: results.reduce((sum, { unanswered }) => sum + unanswered, 0),
    cpuPerCall: cores === undefined ? undefined : cores / results.length,
  };
}

export const answerColumns = [
  'answers',
  'none came',
  'added p50',
  'p95',
  'max',
  'voice to voice p50',
  'p95',
  'CPU of a call',
  'calls of one core',
] as const;

export function answerRow({ calls, added, v2v, unanswered, cpuPerCall }: Answers): readonly string[] {
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    figure(added.count),
    figure(unanswered),
    ...[added.p50, added.p95, added.max, v2v.p50, v2v.p95].map((ms) => duration(ms)),
    cpuPerCall === undefined ? '–' : `${figure(cpuPerCall * 100)} %`,
    figure(cpuPerCall === undefined ? undefined : 1 / cpuPerCall),
  ];
}
