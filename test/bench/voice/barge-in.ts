/** How soon an agent that is interrupted is quiet. */
import { percentile, summarize } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import { minSpeechMs } from './agent.ts';
import type { Part } from './part.ts';

export const bargeIn: Part = async ({ host, scale, progress }) => {
  const role = await host.voiceRole(scale.ready);
  try {
    progress(`${scale.interruptions} interruptions`);
    const [result] = await host.callers({ calls: [await host.call('long')], turns: 0, interruptions: scale.interruptions });
    const after = (result?.interruptions ?? []).map(({ began, quiet }) => quiet - began - minSpeechMs);
    return {
      figures: { minSpeechMs, after, summary: { ...summarize(after), p95: percentile(after, 95) } },
      tables: [
        {
          title: 'An interrupted agent is quiet',
          columns: ['', 'interruptions', 'p50', 'p95', 'max'],
          rows: [
            [
              'after the shortest speech that interrupts',
              figure(after.length),
              ...[percentile(after, 50), percentile(after, 95), Math.max(...after)].map((ms) => duration(ms)),
            ],
          ],
          notes: [
            `From ${minSpeechMs} ms (\`interruptions.minSpeechDuration\`) after the first sound of the one who interrupts, to the last sound of the agent, both as the caller has them.`,
          ],
        },
      ],
    };
  } finally {
    await role.stop();
  }
};
