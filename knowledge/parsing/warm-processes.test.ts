/** Tests that one file can do nothing to the next one in the same process. */
import { fileURLToPath } from 'node:url';

import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';

import { systemClock } from '../../platform/clock.ts';
import { childrenOf } from '../../test/support/child-processes.ts';
import { eventually } from '../../test/support/eventually.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { failureCode, read, texts } from '../../test/support/documents/read.ts';
import { IngestionError } from '../ingestion-failure.ts';
import { ParserPool, type ParserPoolOptions } from './parser-pool.ts';

const open: ParserPool[] = [];
afterEach(() => Promise.all(open.splice(0).map((pool) => pool.close())));

function aPool(options: Partial<ParserPoolOptions> = {}) {
  const registry = new Registry();
  const pool = new ParserPool({ size: 1, registry, ...options });
  open.push(pool);
  const sum = async (name: string): Promise<Readonly<Record<string, number>>> => {
    const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
  };
  return { pool, started: () => sum('parley_parser_processes_started_total'), ended: () => sum('parley_parser_processes_ended_total') };
}

const leaky = fileURLToPath(new URL('testing/leaky-parsers.ts', import.meta.url));

describe('a process that reads several files', () => {
  it('reads many, refuses some, and stays', async () => {
    const { pool, started, ended } = aPool();
    for (let at = 0; at < 20; at += 1) {
      expect(texts((await read(pool, { content: `text ${at}`, extension: 'txt' })).blocks)).toEqual([`text ${at}`]);
      expect(await failureCode(pool, { content: '%PDF-1.7 not a text', extension: 'txt' })).toBe('unsupported_content');
    }
    expect([await started(), await ended()]).toEqual([{ plain: 1 }, {}]);
  });

  it.each([
    ['the number of files', { documents: 3 }, 'documents', 3],
    ['its memory', { residentBytes: 1 }, 'memory', 1],
    ['its age', { ageMs: 1 }, 'age', 1],
    ['its processor time', { processorMs: 1 }, 'age', 1],
  ] as const)('is replaced by %s', async (_, recycle, reason, each) => {
    const { pool, ended } = aPool({ recycle });
    for (let at = 0; at < 2 * each; at += 1) await read(pool, { content: 'text', extension: 'txt' });
    expect(await ended()).toEqual({ [`plain ${reason}`]: 2 });
  });

  it('ends when no file comes for a while, and the next file starts another', async () => {
    const clock = new FakeClock();
    const { pool, started, ended } = aPool({ idleMs: 50, clock });
    await read(pool, { content: 'text', extension: 'txt' });
    clock.tick(49);
    expect(await ended()).toEqual({});
    clock.tick(1);
    expect(await ended()).toEqual({ 'plain idle': 1 });
    await read(pool, { content: 'text', extension: 'txt' });
    expect(await started()).toEqual({ plain: 2 });
  });

  it.each(['pollute', 'work', 'throw later', 'add later'])('keeps from the next file what a file left: %s', async (first) => {
    const { pool } = aPool({ entry: leaky });
    await read(pool, { content: 'before', extension: 'txt' });
    await read(pool, { content: `${first}\nmore`, extension: 'txt' });
    for (let at = 0; at < 3; at += 1) {
      const { blocks, document } = await read(pool, { content: 'after', extension: 'txt' });
      expect([texts(blocks), document]).toEqual([['after'], { title: 'undefined', warnings: [] }]);
    }
  });

  it.each([
    ['pollute', 'remains'],
    ['work', 'remains'],
    ['damaged', 'failure'],
    ['crash', 'crashed'],
  ])('is replaced after %s, and a document that was not the first in it is read again in a new one', async (first, reason) => {
    const { pool, started, ended } = aPool({ entry: leaky });
    await read(pool, { content: 'before', extension: 'txt' });
    const outcome = await read(pool, { content: first, extension: 'txt' }).catch((error: unknown) => error);
    const isVerdict = reason !== 'remains';
    expect(outcome instanceof IngestionError ? outcome.code : undefined).toBe(isVerdict ? 'corrupt_file' : undefined);
    expect(texts((await read(pool, { content: 'after', extension: 'txt' })).blocks)).toEqual(['after']);
    expect((await ended())[`plain ${reason}`]).toBe(isVerdict ? 2 : 1);
    expect(await started()).toEqual({ plain: isVerdict ? 3 : 2 });
  });

  it('stays when a check refuses a text, and goes when one refuses a file that a large library reads', async () => {
    const { pool, ended } = aPool({ entry: leaky });
    expect(await failureCode(pool, { content: 'refused', extension: 'txt' })).toBe('too_large');
    expect(await ended()).toEqual({});
    expect(await failureCode(pool, { content: '%PDF-', extension: 'docx' })).toBe('unsupported_content');
    expect(await ended()).toEqual({ 'binary failure': 1 });
  });

  it.runIf(process.platform === 'linux')('is killed from outside: its file is read again, and not failed', async () => {
    const { pool, started } = aPool({ entry: leaky });
    await read(pool, { content: 'text', extension: 'txt' });
    const before = childrenOf(process.pid);
    const isBeingRead = Promise.withResolvers<unknown>();
    const reading = read(pool, { content: 'hold unless new', extension: 'txt', onProgress: isBeingRead.resolve });
    await isBeingRead.promise;
    for (const pid of before) process.kill(pid, 'SIGKILL');
    expect(texts((await reading).blocks)).toEqual(['hold unless new']);
    expect(await started()).toEqual({ plain: 2 });
  });
});

/**
 * Reads so many at once, each of which takes 100 ms by the pool's clock, however busy the machine is. @returns the processes that were
 * started
 */
async function flood(files: number, forBacklog: number): Promise<Readonly<Record<string, number>>> {
  let done = 0;
  const { pool, started } = aPool({ size: 4, entry: leaky, forBacklog, clock: { ...systemClock, monotonic: () => done * 100 } });
  const one = (at: number) => read(pool, { content: `text ${at}`, extension: 'txt' }).finally(() => (done += 1));
  await Promise.all(Array.from({ length: files }, (_, at) => one(at)));
  return started();
}

describe('processes of a pool', () => {
  it('are one for a flood of small files', async () => {
    expect(await flood(40, 1)).toEqual({ plain: 1 });
  });

  it('are more when many files wait and the machine has processors for them', async () => {
    expect(await flood(60, 2)).toEqual({ plain: 2 });
  });

  it('are one more for what waits behind a slow file', async () => {
    const { pool, started } = aPool({ size: 4, entry: leaky, forBacklog: 1 });
    const over = new AbortController();
    const slow = expect(read(pool, { content: 'hold', extension: 'txt', signal: over.signal })).rejects.toThrow('over');
    // A request without a signal would be there first.
    const { blocks } = await read(pool, { content: 'behind it', extension: 'txt', signal: new AbortController().signal });
    expect(texts(blocks)).toEqual(['behind it']);
    expect(await started()).toEqual({ plain: 2 });
    over.abort(new Error('over'));
    await slow;
  });

  it('are left for owners of whom no file is being read, and those go first', async () => {
    const { pool, started } = aPool({ size: 3, entry: leaky });
    const over = new AbortController();
    const hold = () => read(pool, { content: 'hold', extension: 'txt', owner: 'large', signal: over.signal }).catch(() => undefined);
    const slow = Array.from({ length: 10 }, hold);
    await eventually(async () => expect(await started()).toEqual({ plain: 2 }));
    // The third process is for others, however many files of the first owner have waited for it before.
    for (const owner of ['small', 'other'])
      expect(texts((await read(pool, { content: `of ${owner}`, extension: 'txt', owner })).blocks)).toEqual([`of ${owner}`]);
    over.abort(new Error('over'));
    await Promise.all(slow);
  });

  it('are no more than the shared memory has room for', async () => {
    const { pool, started } = aPool({ size: 4, entry: leaky, sharedBytes: 150_000_000 });
    const slow = read(pool, { content: 'wait', extension: 'txt' });
    const behind = read(pool, { content: 'behind it', extension: 'txt' });
    expect(texts((await Promise.all([slow, behind])).flatMap(({ blocks }) => blocks))).toEqual(['wait', 'behind it']);
    expect(await started()).toEqual({ plain: 1 });
  });

  it('are apart for text and for what large libraries read', async () => {
    const { pool, started } = aPool();
    await read(pool, { content: 'text', extension: 'txt' });
    await failureCode(pool, { content: '%PDF-1.7', extension: 'pdf' });
    expect(await started()).toEqual({ plain: 1, binary: 1 });
  });

  it('are new for a large file, which could not be read again', async () => {
    const { pool, started, ended } = aPool();
    await read(pool, { content: 'text', extension: 'txt' });
    expect((await read(pool, { content: 'a line of text\n'.repeat(100_000), extension: 'txt' })).blocks.length).toBeGreaterThan(1);
    expect([await started(), await ended()]).toMatchObject([
      { plain: expect.toSatisfy((count: number) => count >= 2) },
      { 'plain large_file': 1 },
    ]);
  });
});
