/** Making calls over REST. */
import { percentile, summarize } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import type { VoicePart } from './part.ts';

export const create: VoicePart = async ({ host, scale, progress }) => {
  const [role, key, agent] = [await host.apiRole(), await host.apiKey(), await host.agent('created')];
  try {
    progress(`${scale.creates} calls over REST`);
    const latencies: number[] = [];
    for (let index = 0; index < scale.creates; index += 1) {
      const startedAt = performance.now();
      const response = await fetch(`${role.url}/v1/calls/create-web-call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ai_agent_id: agent, metadata: { index }, native_llm_dynamic_data: { name: 'Ada' } }),
      });
      const { _id: id } = (await response.json()) as { readonly _id?: string };
      latencies.push(performance.now() - startedAt);
      if (!response.ok || id === undefined) throw new Error(`a call could not be made: ${response.status}`);
      await host.store.calls.calls.end({ org: host.org, id, reason: 'user_ended_call', events: () => [] });
    }
    // The first ones find nothing warm.
    const warm = latencies.slice(Math.min(20, latencies.length - 1));
    return {
      figures: { ...summarize(warm), p95: percentile(warm, 95) },
      tables: [
        {
          title: 'Making a call over REST',
          columns: ['', 'calls', 'p50', 'p95', 'p99', 'max'],
          rows: [
            [
              'one after the other',
              figure(warm.length),
              ...[50, 95, 99].map((p) => duration(percentile(warm, p))),
              duration(Math.max(...warm)),
            ],
          ],
          notes: ['Postgres waits for its disk. With the check of the key, the revision, the limit of live calls and the token.'],
        },
      ],
    };
  } finally {
    await role.stop();
  }
};
