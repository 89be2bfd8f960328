/** Measures events at a steady rate, written by the command that users have: how long each takes to its receiver. */
import { ProcessSampler } from '../harness/process-sampler.ts';
import { median } from '../harness/stats.ts';
import { figure } from '../harness/table.ts';
import { emitByCommand } from './emit.ts';
import { latenciesOf, latencyCells, latencyColumns, type Latencies } from './latencies.ts';
import type { WebhooksPart, WebhooksContext } from './part.ts';

const perSecond = 200;

interface Turn {
  readonly latencies: Latencies;
  readonly dispatcherCpuMs: number;
  readonly postgresCpuMs: number;
}

async function turns({ host, scale, progress }: WebhooksContext, subscriptions: number): Promise<readonly Turn[]> {
  const { sink } = host;
  const site = await host.site();
  try {
    await site.subscribe(Array.from({ length: subscriptions }, (_, index) => ({ name: `sub-${index}`, url: sink.url(`/${index}`) })));
    const dispatcher = await host.dispatcher(site);
    const done: Turn[] = [];
    try {
      const emit = (seconds: number) => emitByCommand({ ...site, count: perSecond * seconds, perSecond });
      await emit(scale.warmUpSeconds);
      for (let round = 0; round < scale.rounds; round += 1) {
        progress(`${perSecond} events/s for ${scale.seconds} s to ${subscriptions} subscriptions, round ${round}`);
        await sink.arrived((await sink.counts()).distinct);
        await sink.forget();
        const sampler = new ProcessSampler({ pid: dispatcher.pid });
        const postgresBefore = host.postgresCpuMs();
        const emitted = await emit(scale.seconds);
        await sink.arrived(emitted.length * subscriptions);
        const dispatcherCpuMs = sampler.stop()?.cpuMs ?? Number.NaN;
        const postgresCpuMs = host.postgresCpuMs() - postgresBefore;
        done.push({ latencies: latenciesOf(emitted, await sink.arrivals()), dispatcherCpuMs, postgresCpuMs });
      }
    } finally {
      await dispatcher.stop();
    }
    return done;
  } finally {
    await site.close();
  }
}

export const rate: WebhooksPart = async (context) => {
  const one = await turns(context, 1);
  const five = await turns(context, 5);
  const rows = (name: string, all: readonly Turn[]): readonly (readonly string[])[] =>
    all.map(({ latencies, dispatcherCpuMs, postgresCpuMs }, round) => [
      `${name}, round ${round + 1}`,
      ...latencyCells(latencies),
      figure(dispatcherCpuMs / latencies.deliveries, 'ms'),
      figure(postgresCpuMs / latencies.deliveries, 'ms'),
    ]);
  const p50 = (all: readonly Turn[]): number => median(all.map(({ latencies }) => latencies.sinceCommit.p50));
  return {
    figures: { one, five, medianOfP50: { one: p50(one), five: p50(five) } },
    tables: [
      {
        title: `${perSecond} events/s, from their commit to their receipt`,
        columns: ['', ...latencyColumns, 'CPU of the dispatcher for each', 'of Postgres'],
        rows: [...rows('1 subscription', one), ...rows('5 subscriptions', five)],
        notes: [
          'Written by `parley events emit`, whose times are whole milliseconds: a commit is answered up to 1 ms later than it says.',
          'The CPU of Postgres contains the writing of the events.',
          'Signed deliveries over plain HTTP on loopback; the receiver answers at once.',
        ],
      },
    ],
  };
};
