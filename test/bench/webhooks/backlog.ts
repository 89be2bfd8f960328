/** Measures how fast the dispatcher gets through events that have been waiting when it starts. */
import { ProcessSampler, type ProcessUse } from '../harness/process-sampler.ts';
import { median } from '../harness/stats.ts';
import { figure } from '../harness/table.ts';
import { emitByCommand } from './emit.ts';
import type { WebhooksPart, WebhooksContext } from './part.ts';

interface Turn {
  readonly deliveries: number;
  readonly duplicates: number;
  /** Rate from the first receipt to the last. */
  readonly perSecond: number;
  readonly dispatcher: ProcessUse | undefined;
  readonly sink: ProcessUse | undefined;
  readonly postgresCpuMs: number;
}

async function turn({ host, scale }: WebhooksContext, subscriptions: number): Promise<Turn> {
  const { sink } = host;
  const site = await host.site();
  try {
    await site.subscribe(Array.from({ length: subscriptions }, (_, index) => ({ name: `sub-${index}`, url: sink.url(`/${index}`) })));
    const events = Math.ceil(scale.backlog / subscriptions);
    await emitByCommand({ ...site, count: events });
    const postgresBefore = host.postgresCpuMs();
    const sinkUse = new ProcessSampler({ pid: sink.pid });
    const dispatcher = await host.dispatcher(site);
    const use = new ProcessSampler({ pid: dispatcher.pid });
    let postgresCpuMs: number;
    try {
      await sink.arrived(events * subscriptions);
      postgresCpuMs = host.postgresCpuMs() - postgresBefore;
      use.stop();
    } finally {
      await dispatcher.stop();
    }
    const arrivals = await sink.arrivals();
    const times = arrivals.map(({ at }) => at);
    // Second arrivals of a delivery don't count.
    const span = (times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b))) / 1000;
    const deliveries = events * subscriptions;
    return {
      deliveries,
      duplicates: arrivals.length - deliveries,
      perSecond: deliveries / span,
      dispatcher: use.use(),
      sink: sinkUse.stop(),
      postgresCpuMs,
    };
  } finally {
    await site.close();
  }
}

export const backlog: WebhooksPart = async (context) => {
  const { scale, progress } = context;
  const kinds = [1, 10, 100] as const;
  const results = new Map<number, Turn[]>(kinds.map((kind) => [kind, []]));
  for (let round = 0; round < scale.rounds; round += 1) {
    for (const kind of kinds) {
      progress(`a backlog of ${scale.backlog} deliveries to ${kind} subscriptions, round ${round}`);
      results.get(kind)?.push(await turn(context, kind));
    }
  }
  const each = (use: ProcessUse | undefined, { deliveries }: Turn): number => (use?.cpuMs ?? Number.NaN) / deliveries;
  return {
    figures: Object.fromEntries(results),
    tables: [
      {
        title: `A backlog of ${figure(scale.backlog)} deliveries`,
        columns: ['', 'deliveries/s', 'slowest round', 'fastest', 'CPU of the dispatcher for each', 'of Postgres', 'of the receiver'],
        rows: kinds.map((kind) => {
          const turns = results.get(kind) ?? [];
          const rates = turns.map(({ perSecond }) => perSecond);
          return [
            `${kind} subscription${kind === 1 ? '' : 's'}`,
            figure(median(rates)),
            figure(Math.min(...rates)),
            figure(Math.max(...rates)),
            figure(median(turns.map((one) => each(one.dispatcher, one))), 'ms'),
            figure(median(turns.map((one) => one.postgresCpuMs / one.deliveries)), 'ms'),
            figure(median(turns.map((one) => each(one.sink, one))), 'ms'),
          ];
        }),
        notes: [
          'All events are in the outbox when the dispatcher starts; from the first receipt to the last. Medians of the rounds.',
          'Dispatcher, Postgres and receiver share the machine.',
        ],
      },
    ],
  };
};
