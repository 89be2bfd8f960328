/** Measures a version that may come: whether conversions lose anything, how fast they are, and what they add to a request. */
import { createTransport, loadKubeConfig } from '../../../kube/index.ts';
import { ValueGenerator } from '../../support/generated-objects.ts';
import { startStack } from '../control-plane/stack.ts';
import { sameJson } from '../../../platform/json.ts';
import { interleave } from '../harness/rounds.ts';
import { median } from '../harness/stats.ts';
import { benchmark, type PartContext, type PartResult } from '../harness/suite.ts';
import { figure, percent, type Table, times } from '../harness/table.ts';
import type { ConvertedObject } from './changes.ts';
import { changedKinds, type ChangedKind, NEW, OLD, randomObject, toVersion } from './kinds.ts';
import { VersionedKinds } from './server.ts';
import { Trial } from './trial.ts';
import { type ConversionWebhook, startWebhook } from './webhook.ts';

const SEED = 20_261_201;

interface Scale {
  /** Random objects of each kind, there and back. */
  readonly objects: number;
  /** Objects of each kind at the API server. */
  readonly stored: number;
  readonly rounds: number;
}

type Context = PartContext<Scale, Awaited<ReturnType<typeof startStack>>, object>;

export const run = benchmark({
  name: 'conversion',
  description: 'a hypothetical v1 of the six kinds: conversions both ways, at a real API server too',
  parts: { objects: measureObjects, server: measureServer },
  full: { objects: 10_000, stored: 100, rounds: 20 },
  quick: { objects: 200, stored: 10, rounds: 3 },
  numbers: {
    objects: ['random objects of each kind (10,000)', (objects) => ({ objects })],
    stored: ['objects of each kind at the API server (100)', (stored) => ({ stored })],
    rounds: ['rounds of requests (20)', (rounds) => ({ rounds })],
  },
  start: () => startStack({ env: process.env }),
});

interface Conversions {
  readonly kind: string;
  readonly changes: readonly string[];
  readonly bytes: number;
  /** Microseconds of one conversion. */
  readonly upUs: number;
  readonly downUs: number;
  /** Microseconds of reading and writing the JSON of the same object. */
  readonly jsonUs: number;
}

async function measureObjects({ scale, progress }: Context): Promise<PartResult> {
  const kinds = changedKinds();
  const results = kinds.map((kind) => {
    progress(`${scale.objects} of ${kind.kind}, there and back`);
    return convertMany(kinds, kind, scale.objects);
  });
  const table: Table = {
    title: `Conversions of ${scale.objects} random objects of each kind: nothing was lost`,
    columns: ['kind', 'changes', 'bytes', 'to v1, objects/s', 'to v1beta1, objects/s', 'conversion : JSON'],
    rows: results.map(({ kind, changes, bytes, upUs, downUs, jsonUs }) => [
      kind,
      changes.join(', '),
      figure(bytes),
      figure(1e6 / upUs),
      figure(1e6 / downUs),
      times((upUs + downUs) / 2 / jsonUs),
    ]),
    notes: ['JSON: to parse and write the same object once, as every request does.'],
  };
  return { figures: results, tables: [table] };
}

/** Half of the objects begin in each version. */
function convertMany(kinds: readonly ChangedKind[], kind: ChangedKind, count: number): Conversions {
  const generator = new ValueGenerator(SEED);
  const spent = { up: 0, down: 0, json: 0, bytes: 0 };
  const timed = <T>(way: 'up' | 'down' | 'json', work: () => T): T => {
    const begin = performance.now();
    const result = work();
    spent[way] += performance.now() - begin;
    return result;
  };
  const convertTo = (object: ConvertedObject, version: typeof OLD | typeof NEW): ConvertedObject =>
    timed(version === NEW ? 'up' : 'down', () => toVersion(kinds, object, version));
  for (let index = 0; index < count; index += 1) {
    const [from, to] = index % 2 === 0 ? ([OLD, NEW] as const) : ([NEW, OLD] as const);
    const object = randomObject(kind, from, `random-${index}`, generator);
    const back = convertTo(convertTo(object, to), from);
    if (!sameJson(back, object))
      throw new Error(`${kind.kind} came back as\n${JSON.stringify(back)}\ninstead of\n${JSON.stringify(object)}`);
    const text = JSON.stringify(object);
    spent.bytes += Buffer.byteLength(text);
    timed('json', () => JSON.stringify(JSON.parse(text)));
  }
  const each = (ms: number): number => (ms * 1000) / count;
  return {
    kind: kind.kind,
    changes: kind.changes.map(({ type }) => type),
    bytes: spent.bytes / count,
    upUs: each(spent.up),
    downUs: each(spent.down),
    jsonUs: each(spent.json),
  };
}

async function measureServer({ scale, host, progress }: Context): Promise<PartResult> {
  const kinds = changedKinds();
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: (await host()).kubeconfig }) });
  const webhook = await startWebhook((object, version) => toVersion(kinds, object, version));
  const versioned = new VersionedKinds(kinds, transport, webhook);
  const trial = new Trial(versioned, new ValueGenerator(SEED));
  try {
    await versioned.install();
    progress(`creating ${scale.stored} objects of each kind in v1beta1`);
    await trial.create(scale.stored);
    await versioned.serveBoth();
    progress('reading and writing them in both versions');
    await trial.read();
    await trial.writeInV1();
    const shared = await trial.shareFields();
    const future = await trial.addFuture();
    progress('comparing requests with and without a conversion');
    const requests = await compareRequests(versioned, scale, () => webhook.read());
    progress('migrating what is stored');
    await versioned.migrate();
    await trial.readInV1();
    return { figures: { shared, future, requests }, tables: [tableOf(requests, scale)] };
  } finally {
    await versioned.remove();
    await webhook.close();
    await transport.close();
  }
}

interface Requests {
  readonly request: string;
  readonly plainMs: number;
  readonly convertedMs: number;
  /** Share of the converted request that is spent in the webhook, and its calls for each request. */
  readonly webhookShare: number;
  readonly webhookCalls: number;
}

/** The same request in the version that is stored, and in the other one, by turns. */
async function compareRequests(
  versioned: VersionedKinds,
  { stored, rounds }: Scale,
  readWebhook: ConversionWebhook['read'],
): Promise<readonly Requests[]> {
  type Version = typeof OLD | typeof NEW;
  const all = (work: (kind: ChangedKind) => Promise<unknown>) => async (): Promise<void> => {
    for (const kind of versioned.kinds) await work(kind);
  };
  const name = (round: number): string => `random-${Math.abs(round) % stored}`;
  const cases: Readonly<Record<string, (version: Version, round: number) => () => Promise<void>>> = {
    'GET of one object': (version, round) => all((kind) => versioned.get(kind, version, name(round))),
    'PATCH of one label': (version, round) =>
      all((kind) =>
        versioned.patch(
          { apiVersion: version, kind: kind.kind, metadata: { name: name(round) }, spec: {} },
          { metadata: { labels: { round: `${version.length}-${round}` } } },
        ),
      ),
    [`LIST of ${stored} objects`]: (version) => all((kind) => versioned.list(kind, version)),
  };
  const results: Requests[] = [];
  for (const [request, work] of Object.entries(cases)) {
    const inWebhook = { share: 0, calls: 0 };
    const timedIn =
      (version: Version) =>
      async (round: number): Promise<number> => {
        readWebhook();
        const begin = performance.now();
        await work(version, round)();
        const ms = performance.now() - begin;
        const webhook = readWebhook();
        if (version === NEW && round >= 0) {
          inWebhook.share += webhook.ms / ms / rounds;
          inWebhook.calls += webhook.requests / versioned.kinds.length / rounds;
        }
        return ms / versioned.kinds.length;
      };
    const { plain, converted } = await interleave({ contenders: { plain: timedIn(OLD), converted: timedIn(NEW) }, rounds });
    const [plainMs, convertedMs] = [median(plain), median(converted)];
    results.push({ request, plainMs, convertedMs, webhookShare: inWebhook.share, webhookCalls: inWebhook.calls });
  }
  return results;
}

const tableOf = (requests: readonly Requests[], { stored }: Scale): Table => ({
  title: `Requests in the version that is stored, and in the other one; ${stored} objects of each kind survived all of it`,
  columns: ['request', 'stored version, ms', 'other version, ms', 'ratio', 'calls of the webhook', 'share of it'],
  rows: requests.map(({ request, plainMs, convertedMs, webhookShare, webhookCalls }) => [
    request,
    figure(plainMs),
    figure(convertedMs),
    times(convertedMs / plainMs),
    figure(webhookCalls),
    percent(webhookShare),
  ]),
});
