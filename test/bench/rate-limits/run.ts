/** What a request pays for its limit, and how well the limit holds over several replicas. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { migrate } from '../../../store/index.ts';
import { query } from '../../support/sql.ts';
import { TestStack } from '../../support/test-stack.ts';
import { load } from '../harness/rounds.ts';
import { runParts } from '../harness/run-parts.ts';
import { summarize } from '../harness/stats.ts';
import { figure, times, type Table } from '../harness/table.ts';
import { contenderNames, contenders, type ContenderName, type Replica } from './contenders.ts';

export interface RateLimitsOptions {
  /** Length of each measurement, in seconds. */
  readonly seconds: number;
  /** Path of the JSON. */
  readonly out?: string | undefined;
}

const limit = { perSecond: 60, burst: 120 };
const replicaCounts = [2, 4] as const;
/** Requests a second that the clients of one key make, over all replicas. */
const offeredPerSecond = 240;
const inFlight = 16;

interface Cost {
  readonly contender: ContenderName;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly statementsPerSecond: number;
}

interface Accuracy {
  readonly contender: ContenderName;
  readonly replicas: number;
  readonly allowed: number;
  /** One burst, and the rate for as long as it took. */
  readonly owed: number;
}

/** @throws Error when Postgres can't be started */
export async function runRateLimits({ seconds, out }: RateLimitsOptions): Promise<void> {
  const stack = new TestStack();
  await runParts({
    benchmark: 'rate-limits',
    parts: ['limits'],
    run: async () => {
      const costs: Cost[] = [];
      const accuracies: Accuracy[] = [];
      const databaseUrl = await stack.databaseUrl();
      await migrate({ databaseUrl });
      const replicasOf = (name: ContenderName, count: number, of: typeof limit): Promise<readonly Replica[]> =>
        Promise.all(Array.from({ length: count }, () => contenders[name]({ databaseUrl, limit: of })));
      for (const contender of contenderNames) {
        costs.push(await costOf(contender, await replicasOf(contender, 1, { perSecond: 1e6, burst: 1e6 }), databaseUrl, seconds));
        for (const count of replicaCounts) accuracies.push(await accuracyOf(contender, await replicasOf(contender, count, limit), seconds));
      }
      return { figures: { costs, accuracies }, tables: [costTable(costs), accuracyTable(accuracies)] };
    },
    stop: () => stack.stop(),
    scale: { seconds, limit, offeredPerSecond, inFlight },
    out,
  });
}

/** Decisions for 64 keys, as fast as they come. */
async function costOf(contender: ContenderName, replicas: readonly Replica[], databaseUrl: string, seconds: number): Promise<Cost> {
  const [replica] = replicas;
  if (replica === undefined) throw new Error('a measurement needs a replica');
  const keys = Array.from({ length: 64 }, () => randomUUID());
  const request = async (index: number): Promise<void> => {
    await replica.take(keys[index % keys.length] ?? '');
    // What else a request does gives timers and sockets their turn.
    await new Promise((resolve) => setImmediate(resolve));
  };
  await load({ inFlight, durationMs: 500, request });
  const before = await transactions(databaseUrl);
  const { requests, elapsedMs, latenciesMs } = await load({ inFlight, durationMs: seconds * 1000, request });
  await replica.stop();
  const statements = (await transactions(databaseUrl)) - before;
  const { p50, p99 } = summarize(latenciesMs);
  return {
    contender,
    perSecond: (requests * 1000) / elapsedMs,
    p50Ms: p50,
    p99Ms: p99,
    statementsPerSecond: (statements * 1000) / elapsedMs,
  };
}

/** Four times what one key may, spread over the replicas. */
async function accuracyOf(contender: ContenderName, replicas: readonly Replica[], seconds: number): Promise<Accuracy> {
  const key = randomUUID();
  const from = performance.now();
  let [asked, allowed] = [0, 0];
  const pending: Promise<void>[] = [];
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - from) {
    for (; asked < (elapsed * offeredPerSecond) / 1000; asked += 1) {
      const replica = replicas[asked % replicas.length];
      if (replica !== undefined) pending.push(replica.take(key).then((ok) => void (allowed += ok ? 1 : 0)));
    }
    await delay(5);
  }
  await Promise.all(pending);
  const owed = limit.burst + ((performance.now() - from) / 1000) * limit.perSecond;
  await Promise.all(replicas.map((replica) => replica.stop()));
  return { contender, replicas: replicas.length, allowed, owed };
}

/** Transactions that Postgres has carried out in this database. */
async function transactions(databaseUrl: string): Promise<number> {
  // A session reports its statements at most once a second, and when it ends.
  await delay(1_500);
  const sql = 'SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()';
  const [row] = await query<{ n: string }>(databaseUrl, sql);
  return Number(row?.n ?? 0);
}

function costTable(costs: readonly Cost[]): Table {
  return {
    title: 'What a decision costs',
    columns: ['limits are kept', 'decisions/s', 'p50', 'p99', 'transactions/s'],
    rows: costs.map((cost) => [
      titles[cost.contender],
      figure(cost.perSecond),
      figure(cost.p50Ms, 'ms'),
      figure(cost.p99Ms, 'ms'),
      figure(cost.statementsPerSecond),
    ]),
    notes: [`${inFlight} in flight, 64 keys, one replica.`],
  };
}

function accuracyTable(accuracies: readonly Accuracy[]): Table {
  return {
    title: 'How well the limit holds',
    columns: ['limits are kept', 'replicas', 'let through', 'should be', 'ratio'],
    rows: accuracies.map(({ contender, replicas, allowed, owed }) => [
      titles[contender],
      String(replicas),
      figure(allowed),
      figure(owed),
      times(allowed / owed),
    ]),
    notes: [`${limit.perSecond} a second and ${limit.burst} at once; ${offeredPerSecond} a second are asked for, spread evenly.`],
  };
}

const titles: Readonly<Record<ContenderName, string>> = {
  apart: 'by each replica alone',
  exchange: 'by exchange, four times a second',
  statement: 'by one statement for each request',
};
