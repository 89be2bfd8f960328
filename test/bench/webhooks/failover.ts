/** Kills one of two dispatchers under load, and measures how long deliveries to healthy endpoints wait for the other one. */
import { setTimeout as delay } from 'node:timers/promises';

import { duration, figure } from '../harness/table.ts';
import { emitByCommand } from './emit.ts';
import { latenciesOf } from './latencies.ts';
import type { WebhooksPart } from './part.ts';

const subscriptions = 20;
const perSecond = 100;
/** Time from the beginning of the load to the kill, and from there to its end, in milliseconds. */
const halfMs = 5_000;

export const failover: WebhooksPart = async ({ host, scale, progress }) => {
  const { sink } = host;
  const site = await host.site();
  try {
    await site.subscribe(Array.from({ length: subscriptions }, (_, index) => ({ name: `sub-${index}`, url: sink.url(`/${index}`) })));
    const rounds = [];
    const survivor = await host.dispatcher(site);
    try {
      for (let round = 1; round <= scale.kills; round += 1) {
        const victim = await host.dispatcher(site);
        await sink.forget();
        progress(`${perSecond} events/s to ${subscriptions} subscriptions, kill ${round} of ${scale.kills}`);
        const emitting = emitByCommand({ ...site, count: (2 * halfMs * perSecond) / 1_000, perSecond });
        await delay(halfMs);
        process.kill(victim.pid, 'SIGKILL');
        const emitted = await emitting;
        await sink.arrived(emitted.length * subscriptions);
        const { sinceCommit, deliveries, duplicates } = latenciesOf(emitted, await sink.arrivals());
        rounds.push({ ...sinceCommit, lost: emitted.length * subscriptions - deliveries, duplicates });
        await victim.stop();
      }
    } finally {
      await survivor.stop();
    }
    return {
      figures: { rounds },
      tables: [
        {
          title: `One of two dispatchers is killed at ${perSecond} events/s to ${subscriptions} subscriptions`,
          columns: ['kill', 'commit → receipt p50', 'longest', 'lost', 'came twice'],
          rows: rounds.map(({ p50, max, lost, duplicates }, index) => [
            String(index + 1),
            duration(p50),
            duration(max),
            figure(lost),
            figure(duplicates),
          ]),
          notes: ['The receiver answers at once: what waits is what the killed one had claimed, and the events that it was relaying.'],
        },
      ],
    };
  } finally {
    await site.close();
  }
};
