/** Measures what the healthy endpoints notice when one hangs, with a long queue behind it. */
import { setTimeout as delay } from 'node:timers/promises';

import { emitByCommand, emitInTurns, type Emitted } from './emit.ts';
import { latenciesOf, latencyCells, latencyColumns, type Latencies } from './latencies.ts';
import type { WebhooksPart } from './part.ts';
import { figure } from '../harness/table.ts';

const spreadPerSecond = 200;
const fanOutsPerSecond = 2;
const hangs = 'hangs';
const all = 'all';

interface Turn {
  readonly expected: number;
  readonly latencies: Latencies;
}

export const hung: WebhooksPart = async ({ host, scale, progress }) => {
  const { sink } = host;
  const site = await host.site();
  try {
    const workspaces = Array.from({ length: scale.healthy }, (_, index) => `w-${index}`);
    await site.subscribe([
      // This endpoint holds on to each request for as long as that is allowed.
      { name: hangs, url: sink.url('/hang'), workspace: hangs, spec: { requestTimeout: '30s' } },
      ...workspaces.map((workspace, index) => ({
        name: workspace,
        url: sink.url(`/${index}`),
        spec: { scope: { type: 'Workspaces', workspaces: [workspace, all] } },
      })),
    ]);
    const dispatcher = await host.dispatcher(site);
    try {
      const measured = async (emit: () => Promise<readonly Emitted[]>, each: number): Promise<Turn> => {
        await sink.forget();
        const emitted = await emit();
        const expected = emitted.length * each;
        await sink.arrived(expected);
        return { expected, latencies: latenciesOf(emitted, await sink.arrivals()) };
      };
      const spread = (seconds: number) => () =>
        emitInTurns({ ...site, workspaces, count: spreadPerSecond * seconds, perSecond: spreadPerSecond });
      const fanOut = (seconds: number) => () =>
        emitInTurns({ ...site, workspaces: [all], count: fanOutsPerSecond * seconds, perSecond: fanOutsPerSecond });

      await measured(spread(scale.warmUpSeconds), 1);
      progress(`${scale.healthy} healthy endpoints, nothing else`);
      const alone = await measured(spread(scale.seconds), 1);
      const aloneFanOut = await measured(fanOut(scale.seconds), scale.healthy);

      progress(`the same while ${scale.hungBacklog} events for the one that hangs are written`);
      const flood = emitByCommand({ ...site, workspace: hangs, count: scale.hungBacklog });
      const during = await measured(spread(scale.seconds), 1);
      await flood;
      for (;;) {
        const [waiting] = await site.rows<{ count: number }>('select count(*)::int as count from parley.outbox');
        if (waiting?.count === 0) break;
        await delay(200);
      }
      progress('the same next to them');
      const next = await measured(spread(scale.seconds), 1);
      const besideFanOut = await measured(fanOut(scale.seconds), scale.healthy);
      const states = await site.rows<{ state: string; count: number }>(
        `select d.state, count(*)::int as count from parley.deliveries d join parley.events e on e.id = d.event_id
         where e.workspace = '${hangs}' group by 1 order by 1`,
      );
      const turns = { alone, during, next, aloneFanOut, besideFanOut };
      const row = (name: string, { latencies, expected }: Turn): readonly string[] => [
        name,
        ...latencyCells(latencies),
        figure(expected - latencies.deliveries),
      ];
      const fan = `${fanOutsPerSecond} events/s to all ${scale.healthy}`;
      const one = `${spreadPerSecond} events/s, each to one`;
      return {
        figures: { ...turns, states },
        tables: [
          {
            title: `${scale.healthy} healthy endpoints next to one that hangs`,
            columns: ['', ...latencyColumns, 'lost'],
            rows: [
              row(`${one}, nothing hangs`, alone),
              row(`${one}, while ${figure(scale.hungBacklog)} are written for the other one`, during),
              row(`${one}, while these wait`, next),
              row(`${fan}, nothing hangs`, aloneFanOut),
              row(`${fan}, while they wait`, besideFanOut),
            ],
            notes: [
              'The one that hangs takes every request and answers none; it may take 30 s for each.',
              `What is for it stands in Postgres in the end: ${states.map(({ state, count }) => `${figure(count)} ${state}`).join(', ')}.`,
            ],
          },
        ],
      };
    } finally {
      await dispatcher.stop();
    }
  } finally {
    await site.close();
  }
};
