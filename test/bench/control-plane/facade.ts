/** Compares (b) GET and PUT over REST with GET and server-side apply on the API server: same objects, same field, same field manager. */
import { Pool } from 'undici';

import { ResourceClient } from '../../../kube/index.ts';
import { ProcessSampler } from '../harness/process-sampler.ts';
import { interleave, load } from '../harness/rounds.ts';
import { median, pairedRatio, summarize } from '../harness/stats.ts';
import { figure, times, type Table } from '../harness/table.ts';
import { agentDescriptor, agentNames, benchAgent, type BenchAgent } from './agents.ts';
import type { ControlPlanePart } from './part.ts';
import type { BenchRole } from '../harness/role.ts';
import { RoleHost } from './roles.ts';

const objects = 64;
/** One at a time measures what a request costs, 16 at once the throughput. */
const concurrencies = [1, 16] as const;
const operations = ['get', 'put'] as const;
const titles = { get: 'GET', put: 'PUT / apply' } as const;
/** This manager owns what the facade writes: the raw apply takes the same name, or the two would conflict. */
const fieldManager = 'parley-api';

export interface FacadeTurn {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the api role for one request; undefined for the raw API, which has no role in between. */
  readonly roleCpuMs: number | undefined;
}

export interface FacadeMeasurement {
  readonly operation: (typeof operations)[number];
  readonly inFlight: number;
  readonly facade: readonly FacadeTurn[];
  readonly raw: readonly FacadeTurn[];
}

type Side = Record<(typeof operations)[number], (index: number) => Promise<void>>;

export const facade: ControlPlanePart<readonly FacadeMeasurement[]> = {
  title: '(b) REST facade against the raw Kubernetes API',

  async run(context) {
    const { cluster, scale, progress } = context;
    const host = await RoleHost.open(context);
    const namespace = await cluster.createNamespace('facade');
    let api: BenchRole | undefined;
    let pool: Pool | undefined;
    try {
      await host.addOrganization(namespace);
      const names = agentNames('facade', objects);
      const keys = await host.createApiKeys(namespace, objects);
      const client = new ResourceClient<BenchAgent>({ transport: cluster.transport, descriptor: agentDescriptor, fieldManager });
      for (const name of names) await client.apply(benchAgent({ namespace, name }));
      api = await host.start('api');
      pool = new Pool(api.url, { connections: 16 });
      const sides = { facade: facadeSide(pool, names, keys), raw: rawSide(client, namespace, names) };
      const { pid } = api;

      const measurements: FacadeMeasurement[] = [];
      for (const operation of operations) {
        for (const inFlight of concurrencies) {
          const turn = async (side: Side, rolePid?: number): Promise<FacadeTurn> => {
            const sampler = rolePid === undefined ? undefined : new ProcessSampler({ pid: rolePid });
            const { requests, elapsedMs, latenciesMs } = await load({ inFlight, durationMs: scale.turnMs, request: side[operation] });
            const cpuMs = sampler?.stop()?.cpuMs;
            const { p50, p99 } = summarize(latenciesMs);
            return {
              perSecond: (requests * 1000) / elapsedMs,
              p50Ms: p50,
              p99Ms: p99,
              roleCpuMs: cpuMs === undefined ? undefined : cpuMs / requests,
            };
          };
          const rounds = await interleave({
            rounds: scale.rounds,
            contenders: { facade: () => turn(sides.facade, pid), raw: () => turn(sides.raw) },
            onTurn: ({ contender, round, warmUp }) =>
              progress(
                `(b) ${titles[operation]}, ${inFlight} in flight, ${contender}, ${warmUp ? 'warm-up' : `round ${round + 1} of ${scale.rounds}`}`,
              ),
          });
          measurements.push({ operation, inFlight, ...rounds });
        }
      }
      return measurements;
    } finally {
      await pool?.close();
      await api?.stop();
      await cluster.releaseNamespace(namespace);
      await host.close();
    }
  },

  tables: (result) => [facadeTable(result)],
};

function facadeSide(pool: Pool, names: readonly string[], keys: readonly string[]): Side {
  const send = async (method: 'GET' | 'PUT', index: number, body?: object): Promise<void> => {
    const which = index % names.length;
    const answer = await pool.request({
      method,
      path: `/v2/ai-agents/${names[which] ?? ''}`,
      headers: { authorization: `Bearer ${keys[which] ?? ''}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} of an agent over REST answered ${answer.statusCode}: ${text.slice(0, 500)}`);
    JSON.parse(text);
  };
  return {
    get: (index) => send('GET', index),
    put: (index) => send('PUT', index, { welcome_message: `Hello, this is REST change ${index}.` }),
  };
}

function rawSide(client: ResourceClient<BenchAgent>, namespace: string, names: readonly string[]): Side {
  const nameOf = (index: number): string => names[index % names.length] ?? '';
  return {
    get: async (index) => void (await client.get({ namespace, name: nameOf(index) })),
    put: async (index) => void (await client.apply(benchAgent({ namespace, name: nameOf(index), version: index }))),
  };
}

function facadeTable(result: readonly FacadeMeasurement[]): Table {
  const rows = result.flatMap(({ operation, inFlight, facade: overRest, raw }) => {
    const title = `${titles[operation]}, ${inFlight} in flight`;
    const row = (side: string, turns: readonly FacadeTurn[]): readonly string[] => [
      `${title}, ${side}`,
      figure(median(turns.map((turn) => turn.perSecond))),
      figure(median(turns.map((turn) => turn.p50Ms)), 'ms'),
      figure(median(turns.map((turn) => turn.p99Ms)), 'ms'),
      figure(median(turns.map((turn) => turn.roleCpuMs ?? Number.NaN)), 'ms'),
    ];
    const ratio = (of: (turn: FacadeTurn) => number): string => times(pairedRatio(overRest.map(of), raw.map(of)));
    return [
      row('facade', overRest),
      row('raw', raw),
      [`${title}, facade / raw`, ratio((turn) => turn.perSecond), ratio((turn) => turn.p50Ms), ratio((turn) => turn.p99Ms), ''],
    ];
  });
  return {
    title: facade.title,
    columns: ['same objects, same field', 'requests/s', 'p50', 'p99', 'CPU of the api role'],
    rows,
    notes: [
      'A PUT over REST is one server-side apply on the API server, and a GET before it where the facade does not know the newest state.',
      'REST is plain HTTP on loopback, the raw API is TLS: the usual way to each.',
    ],
  };
}
