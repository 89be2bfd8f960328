/** Measures what traces cost calls: the same calls at two voice roles in turn, one of which sends every span to a collector. */
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { treeCpuMs, untilAtRest } from '../harness/process-tree.ts';
import { interleave } from '../harness/rounds.ts';
import { median } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import type { PinnedRole } from './host.ts';
import type { VoicePart } from './part.ts';

export const traces: VoicePart = async ({ host, scale, progress }) => {
  const count = scale.calls[1] ?? 1;
  const collector = await startOtlpReceiver();
  const roles: PinnedRole[] = [];
  const voiceRole = async (options: { readonly collector?: string }): Promise<PinnedRole> => {
    const role = await host.voiceRole({ ...scale, ...options });
    roles.push(role);
    return role;
  };
  try {
    const roleOf = { off: await voiceRole({}), on: await voiceRole({ collector: collector.url }) };
    /** Measures the processor time of one call, in milliseconds: from its dispatch to the last span that is sent. */
    const measure = async (contender: keyof typeof roleOf, round: number): Promise<number> => {
      const role = roleOf[contender];
      await untilAtRest(role.pid);
      const before = treeCpuMs(role.pid) ?? Number.NaN;
      const calls = await Promise.all(
        Array.from({ length: count }, (_, index) => host.call(`traces-${contender}-${round}-${index}`, undefined, role)),
      );
      await host.callers({ calls, turns: scale.turns, interruptions: 0 });
      await untilAtRest(role.pid);
      return ((treeCpuMs(role.pid) ?? Number.NaN) - before) / count;
    };
    const measured = await interleave({
      contenders: { off: (round) => measure('off', round), on: (round) => measure('on', round) },
      rounds: scale.traceRounds,
      onTurn: ({ contender, round, warmUp }) =>
        progress(`${count} calls with traces ${contender}, ${warmUp ? 'to warm up' : `round ${round + 1} of ${scale.traceRounds}`}`),
    });
    const spans = collector.spans.length;
    if (spans === 0) throw new Error('the collector got no spans: nothing was measured');
    const ratios = measured.on.map((ms, index) => ms / (measured.off[index] ?? Number.NaN));
    const percent = (ratio: number): string => `${figure((ratio - 1) * 100)} %`;
    const row = (name: string, values: readonly number[], more: string): readonly string[] => [
      name,
      ...[median(values), Math.min(...values), Math.max(...values)].map((ms) => duration(ms)),
      more,
    ];
    return {
      figures: { calls: count, turns: scale.turns, cpuMsOfACall: measured, ratios, ratio: median(ratios), spans },
      tables: [
        {
          title: `Processor time of a call, with traces and without: ${count} at once, ${scale.turns} questions each`,
          columns: ['traces', 'median', 'lowest', 'highest', 'more than off'],
          rows: [row('off', measured.off, '–'), row('on', measured.on, percent(median(ratios)))],
          notes: [
            `Of ${scale.traceRounds} rounds in turn: the median of the ratios of neighbours, which lie between ${percent(Math.min(...ratios))} and ${percent(Math.max(...ratios))}.`,
            'Of the voice role with all its processes, from the dispatch of the calls until it is at rest. Every trace is kept and sent; content is off.',
          ],
        },
      ],
    };
  } finally {
    await Promise.all(roles.map((role) => role.stop()));
    await collector.close();
  }
};
