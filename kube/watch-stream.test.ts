import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { countTurns } from '../test/support/count-turns.ts';
import { KubeError } from './error.ts';
import type { KubeObject } from './types.ts';
import { watchStream, type WatchEvent } from './watch-stream.ts';

function streamOf(
  chunks: Iterable<Uint8Array>,
  fail?: Error,
): { readonly status: number; readonly body: AsyncIterable<Uint8Array>; destroy(): void; destroyed: number } {
  return {
    status: 200,
    destroyed: 0,
    destroy() {
      this.destroyed++;
    },
    body: (async function* () {
      yield* chunks;
      if (fail !== undefined) throw fail;
    })(),
  };
}

async function collect(chunks: Iterable<Uint8Array>): Promise<readonly WatchEvent<KubeObject>[]> {
  const events: WatchEvent<KubeObject>[] = [];
  for await (const event of watchStream<KubeObject>({ stream: streamOf(chunks), what: 'test' })) events.push(event);
  return events;
}

const line = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
const added = (name: string, data = ''): object => ({ type: 'ADDED', object: { apiVersion: 'v1', kind: 'X', metadata: { name }, data } });

const bookmark = (annotations?: object): object => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '7', ...(annotations ? { annotations } : {}) } },
});

const failure = async (chunks: Iterable<Uint8Array>): Promise<unknown> => collect(chunks).catch((error: unknown) => error);

describe('lines', () => {
  it('come out the same, wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 8 }), fc.array(fc.nat(400)), async (data, cuts) => {
        const bytes = Buffer.concat(data.map((each, index) => line(added(`o${index}`, each))));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        const events = await collect(chunks);
        expect(events.map((event) => ('object' in event ? (event.object as unknown as { data: string }).data : undefined))).toEqual(data);
      }),
    );
  });

  it('recognises bookmarks', async () => {
    expect(await collect([line(bookmark()), line(bookmark({ 'k8s.io/initial-events-end': 'true' }))])).toEqual([
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: false },
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
    ]);
  });

  it('that break off, are no JSON or an ERROR end the watch with an error', async () => {
    expect(await failure([line(added('a')), Buffer.from('{"type":"ADD')])).toMatchObject({ code: 0, reason: 'Unreachable' });
    expect(await failure([Buffer.from('nonsense\n')])).toMatchObject({ code: 0, reason: 'Unreachable' });
    const error = await failure([line({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } })]);
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ code: 410, reason: 'Expired' });
  });
});

it('gives the connection back however it ends, and reports each chunk', async () => {
  const seen: number[] = [];
  const stream = streamOf([line(added('a')), line(added('b'))]);
  for await (const event of watchStream<KubeObject>({ stream, what: 'test', onBytes: (bytes) => seen.push(bytes) })) {
    expect(event.type).toBe('ADDED');
    break;
  }
  expect(stream.destroyed).toBe(1);
  expect(seen).toEqual([line(added('a')).length]);
});

it('lets other work run while it parses what is already there', async () => {
  const bytes = Buffer.concat(Array.from({ length: 1_000 }, (_, index) => line(added(`o${index}`))));
  let events: readonly unknown[] = [];
  const turns = await countTurns(async () => (events = await collect([bytes])));
  expect(events).toHaveLength(1_000);
  expect(turns).toBeGreaterThanOrEqual(1_000);
});
