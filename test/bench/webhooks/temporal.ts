/** The same deliveries through one Temporal workflow each, against the dispatcher: the simple design that does without an outbox. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { Client, Connection } from '@temporalio/client';

import { startChild } from '../harness/child.ts';
import { forEachOf, paced } from '../harness/rounds.ts';
import { median, type Distribution } from '../harness/stats.ts';
import { duration, figure, times } from '../harness/table.ts';
import { emitByCommand, type Emitted } from './emit.ts';
import type { WebhooksHost } from './host.ts';
import { latenciesOf } from './latencies.ts';
import type { WebhooksPart, WebhooksContext } from './part.ts';
import type { DeliverInput } from './temporal-workflow.ts';

const pacedPerSecond = 5;
/** Workflows that are being started at a time. More make the server slower, not faster. */
const startsAtOnce = 32;

interface Baseline {
  /** Starts a workflow that posts an event to the sink. Resolves when Temporal has taken it on. */
  deliver(id: string): Promise<void>;
  stop(): Promise<void>;
}

async function startBaseline(host: WebhooksHost): Promise<Baseline> {
  const taskQueue = `baseline-${randomBytes(4).toString('hex')}`;
  const address = await host.temporalAddress();
  const worker = startChild({
    file: process.execPath,
    args: [fileURLToPath(new URL('./temporal-worker.ts', import.meta.url)), address, taskQueue],
    logFile: `${host.logDir}temporal-baseline.log`,
  });
  await worker.until('polling', async () => worker.log().includes('polling'));
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  return {
    async deliver(id) {
      const body = JSON.stringify({ traceId: id, eventName: 'CallHandler.CallStarted', payload: { call_id: id, status: 'ongoing' } });
      await client.workflow.start('deliverWebhook', {
        workflowId: id,
        taskQueue,
        args: [{ url: host.sink.url('/baseline'), id, body } satisfies DeliverInput],
      });
    },
    async stop() {
      await connection.close();
      await worker.stop();
    },
  };
}

const newId = (): string => `evt_${randomBytes(16).toString('hex')}`;

interface Throughput {
  readonly perSecond: number;
}

interface Side {
  readonly through: Throughput;
  /** From when an event was made to its receipt. */
  readonly latency: Distribution;
}

async function throughOf(context: WebhooksContext, baseline: Baseline): Promise<Throughput> {
  const { host, scale } = context;
  await host.sink.forget();
  const ids = Array.from({ length: scale.workflows }, newId);
  const startedAt = performance.timeOrigin + performance.now();
  await forEachOf(ids, startsAtOnce, (id) => baseline.deliver(id));
  await host.sink.arrived(ids.length);
  const last = (await host.sink.arrivals()).reduce((latest, { at }) => Math.max(latest, at), 0);
  return { perSecond: (ids.length / (last - startedAt)) * 1000 };
}

/** The dispatcher runs meanwhile, as in life: events are written and delivered at the same time. */
async function throughDispatcher({ host, scale }: WebhooksContext): Promise<Side> {
  const site = await host.site();
  try {
    await site.subscribe([{ name: 'sub', url: host.sink.url('/dispatcher') }]);
    const dispatcher = await host.dispatcher(site);
    try {
      await emitByCommand({ ...site, count: 100 });
      await host.sink.arrived(100);
      await host.sink.forget();
      const emitted = await emitByCommand({ ...site, count: scale.workflows });
      await host.sink.arrived(scale.workflows);
      const last = (await host.sink.arrivals()).reduce((latest, { at }) => Math.max(latest, at), 0);
      const first = emitted.reduce((earliest, { madeAt }) => Math.min(earliest, madeAt), Infinity);
      const perSecond = (scale.workflows / (last - first)) * 1000;
      await host.sink.forget();
      const slow = await emitByCommand({ ...site, count: pacedPerSecond * scale.seconds, perSecond: pacedPerSecond });
      await host.sink.arrived(slow.length);
      return { through: { perSecond }, latency: latenciesOf(slow, await host.sink.arrivals()).sinceMade };
    } finally {
      await dispatcher.stop();
    }
  } finally {
    await site.close();
  }
}

async function throughWorkflows(context: WebhooksContext, baseline: Baseline): Promise<Side> {
  const { host, scale } = context;
  const through = await throughOf(context, baseline);
  await host.sink.forget();
  const emitted: Emitted[] = [];
  await paced({
    perSecond: pacedPerSecond,
    seconds: scale.seconds,
    task: async () => {
      const id = newId();
      const madeAt = performance.timeOrigin + performance.now();
      await baseline.deliver(id);
      emitted.push({ id, workspace: '', madeAt, committedAt: performance.timeOrigin + performance.now() });
    },
  });
  await host.sink.arrived(emitted.length);
  const latency = latenciesOf(emitted, await host.sink.arrivals()).sinceMade;
  await host.sink.forget();
  return { through, latency };
}

export const temporal: WebhooksPart = async (context) => {
  const { host, scale, progress } = context;
  const baseline = await startBaseline(host);
  try {
    // The first workflows compile the code.
    await forEachOf(Array.from({ length: 50 }, newId), 8, (id) => baseline.deliver(id));
    await host.sink.arrived(50);
    const rounds: { readonly workflows: Side; readonly dispatcher: Side }[] = [];
    for (let round = 0; round < scale.rounds; round += 1) {
      progress(`${scale.workflows} deliveries by workflows, then by the dispatcher, round ${round}`);
      const workflows = await throughWorkflows(context, baseline);
      rounds.push({ workflows, dispatcher: await throughDispatcher(context) });
    }
    const of = (pick: (round: (typeof rounds)[number]) => number): number => median(rounds.map(pick));
    const row = (name: 'dispatcher' | 'workflows'): readonly string[] => [
      name === 'dispatcher' ? 'outbox and dispatcher' : 'one workflow for each delivery',
      figure(of((round) => round[name].through.perSecond)),
      duration(of((round) => round[name].latency.p50)),
      duration(of((round) => round[name].latency.p99)),
    ];
    const ratio = (pick: (side: Side) => number): string => times(of(({ workflows, dispatcher }) => pick(dispatcher) / pick(workflows)));
    return {
      figures: { rounds },
      tables: [
        {
          title: 'Against one Temporal workflow for each delivery',
          columns: ['', `${figure(scale.workflows)} at once: deliveries/s`, `${pacedPerSecond} a second: made → receipt p50`, 'p99'],
          rows: [
            row('dispatcher'),
            row('workflows'),
            [
              'dispatcher / workflows',
              ratio(({ through }) => through.perSecond),
              ratio(({ latency }) => latency.p50),
              ratio(({ latency }) => latency.p99),
            ],
          ],
          notes: [
            'From the first write, or the first start of a workflow, to the last receipt; then at a rate that both can keep, from the making of each event.',
            "A workflow has one activity, which posts; its worker polls with the SDK's defaults. Its event is in the workflow's input and in no table of ours.",
            "Temporal is the local stack's: one process, SQLite. On Postgres or Cassandra it takes more.",
            'Medians over the rounds; ratios are medians of the ratios of each round.',
          ],
        },
      ],
    };
  } finally {
    await baseline.stop();
  }
};
