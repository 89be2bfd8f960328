import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';

import { IngestionError } from '../ingestion-failure.ts';
import type { ParserLimits } from './limits.ts';
import { ParserPool, type ParserPoolOptions } from './parser-pool.ts';
import { ParserProcess } from './parser-process.ts';
import { failureCode, read, texts } from '../../test/support/documents/read.ts';
import { systemClock } from '../../platform/clock.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { suiteFolder } from '../../test/support/folders.ts';

const open: ParserPool[] = [];
const folder = suiteFolder();

function aPool(limits: Partial<ParserLimits> = {}, options: Partial<ParserPoolOptions> = {}): ParserPool {
  const pool = new ParserPool({ size: 1, limits, ...options });
  open.push(pool);
  return pool;
}

afterEach(() => Promise.all(open.splice(0).map((pool) => pool.close())));

/** The parsers of this entry never come to the end of the text `hold`. */
const entry = fileURLToPath(new URL('testing/leaky-parsers.ts', import.meta.url));

/** A text that takes the parser an age, and little memory. */
const slow = `${'[^a]'.repeat(100)}\n`.repeat(450);

describe('a pool of parsers', () => {
  it('reads a file from a path or a stream, says how far it is, and counts', async () => {
    const registry = new Registry();
    const pool = aPool({}, { registry });
    const path = join(folder, 'two.txt');
    await writeFile(path, 'one\n\ntwo\n');
    const progress: number[] = [];
    const parsing = pool.parse({ content: { path }, extension: 'txt', onProgress: ({ done, total }) => progress.push(done / total) });
    const batches = await all(parsing.blocks());
    expect(batches.flat()).toMatchObject([{ text: 'one' }, { text: 'two' }]);
    expect(await parsing.document).toEqual({ warnings: [] });
    expect(progress.at(-1)).toBe(1);
    expect(texts((await read(pool, { content: 'three', extension: 'txt' })).blocks)).toEqual(['three']);
    expect(await registry.metrics()).toContain('parley_parse_seconds_count{extension="txt",outcome="completed"} 2');
  });

  it('ends a file that takes too long: 120 seconds, and one for each MB', async () => {
    const clock = new FakeClock();
    const pool = aPool({}, { clock, entry });
    let isHandedOver = false;
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('hold'.padEnd(5_000_000, '\n'));
      isHandedOver = true;
    };
    let ended = false;
    const reading = all(pool.parse({ content: content(), extension: 'txt' }).blocks()).finally(() => (ended = true));
    const outcome = expect(reading).rejects.toMatchObject({ code: 'parse_timeout' });
    await expect.poll(() => isHandedOver).toBe(true);
    await settle();
    clock.tick(124_000);
    await settle();
    expect(ended).toBe(false);
    clock.tick(2000);
    await outcome;
  });

  it('gives a file ten seconds more for each page that it draws', async () => {
    const clock = new FakeClock();
    const pool = aPool({}, { clock, entry });
    let ended = false;
    let said = 0;
    const parsing = pool.parse({
      content: (async function* () {
        yield Buffer.from('draw and hold');
      })(),
      extension: 'txt',
      pictures: 1,
      onProgress: () => (said += 1),
    });
    const reading = all(parsing.blocks()).finally(() => (ended = true));
    const outcome = expect(reading).rejects.toMatchObject({ code: 'parse_timeout' });
    await expect.poll(() => said).toBeGreaterThan(0);
    await settle();
    clock.tick(129_000);
    await settle();
    expect(ended).toBe(false);
    clock.tick(2000);
    await outcome;
  });

  it('ends a text that takes more processor time than one of its size', async () => {
    const clock = new FakeClock();
    const pool = aPool({ baseMs: 1e9, textProcessorMs: 1500, textProcessorMsPerMegabyte: 1000 }, { clock });
    const looks = setInterval(() => clock.tick(100), 100);
    expect(await failureCode(pool, { content: slow, extension: 'md' })).toBe('parse_timeout');
    clearInterval(looks);
    // The machine decides how much the start of a process takes, so it is not looked at any more.
    expect((await read(pool, { content: 'quick', extension: 'md' })).blocks).toHaveLength(1);
  });

  it('ends a file that takes too much memory, or says too much', async () => {
    expect(await failureCode(aPool({ residentBytes: 1 }, { entry }), { content: 'hold', extension: 'txt' })).toBe('parse_memory');
    expect(await failureCode(aPool({ textBytes: 1000 }), { content: 'word '.repeat(300), extension: 'txt' })).toBe('too_large');
    expect(await failureCode(aPool({ fileBytes: 1000 }), { content: 'word '.repeat(300), extension: 'txt' })).toBe('too_large');
    expect(await failureCode(aPool({ blocks: 10 }), { content: 'word\n\n'.repeat(11), extension: 'txt' })).toBe('too_large');
  });

  it('kills the child when the signal aborts, while waiting for its turn and while reading', async () => {
    const pool = aPool({}, { entry });
    const first = new AbortController();
    const second = new AbortController();
    const reading = read(pool, { content: 'hold', extension: 'txt', signal: first.signal });
    const waiting = read(pool, { content: 'a', extension: 'txt', signal: second.signal });
    second.abort(new Error('not wanted'));
    await expect(waiting).rejects.toThrow('not wanted');
    first.abort(new Error('deleted'));
    await expect(reading).rejects.toThrow('deleted');
    expect(texts((await read(pool, { content: 'next', extension: 'txt' })).blocks)).toEqual(['next']);
  });

  it('waits for a slow reader, without that time counting, and goes on', async () => {
    const clock = new FakeClock();
    const pool = new ParserPool({ size: 1, clock });
    open.push(pool);
    const paragraphs = Array.from({ length: 40_000 }, (_, at) => `paragraph ${at} with some words to fill it`);
    const parsing = pool.parse({ content: chunked(paragraphs.join('\n\n')), extension: 'txt' });
    let count = 0;
    for await (const batch of parsing.blocks()) {
      if (count === 0) await clock.advance(600_000);
      count += batch.length;
    }
    expect(count).toBe(paragraphs.length);
  });

  it('frees its place when the reader leaves, and when the content breaks off', async () => {
    const pool = aPool();
    const parsing = pool.parse({ content: chunked('a\n\n'.repeat(100_000)), extension: 'txt' });
    for await (const _ of parsing.blocks()) break;
    await expect(parsing.document).rejects.toThrow('not read to their end');
    const broken = pool.parse({ content: breaking(), extension: 'txt' });
    await expect(all(broken.blocks())).rejects.toThrow('storage is unavailable');
    expect(texts((await read(pool, { content: 'next', extension: 'txt' })).blocks)).toEqual(['next']);
  });

  it('ends what it reads when it closes, in a way that may be tried again', async () => {
    const pool = aPool({}, { entry });
    let isHandedOver = false;
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('hold');
      isHandedOver = true;
    };
    const outcome = all(pool.parse({ content: content(), extension: 'txt' }).blocks()).catch((error: unknown) => error);
    await expect.poll(() => isHandedOver).toBe(true);
    await pool.close();
    const error = await outcome;
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(IngestionError);
    await expect(read(pool, { content: 'a', extension: 'txt' })).rejects.toThrow('closed');
  });
});

describe('a child', () => {
  it('has no files, programs, threads, code from text, network or environment', async () => {
    const child = new ParserProcess({ clock: systemClock, entry: fileURLToPath(new URL('testing/escape.ts', import.meta.url)) });
    expect(await child.next()).toMatchObject({ type: 'document', document: { warnings: [] } });
  });

  it('that is killed from outside takes only its own file with it', async () => {
    const child = new ParserProcess({ clock: systemClock });
    process.kill(child.pid ?? 0, 'SIGKILL');
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(child.isOver).toBe(true);
    expect(await child.next()).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('has an empty environment and goes first when memory runs out', async () => {
    const { readFile } = await import('node:fs/promises');
    const child = new ParserProcess({ clock: systemClock });
    await expect.poll(() => readFile(`/proc/${child.pid}/cmdline`, 'utf8')).toContain('--permission');
    // A shell adds the folder it stands in.
    expect((await readFile(`/proc/${child.pid}/environ`, 'utf8')).replace(/(?:PWD|OLDPWD|SHLVL|_)=[^\0]*\0/gu, '')).toBe('');
    await expect.poll(() => readFile(`/proc/${child.pid}/oom_score_adj`, 'utf8')).toBe('1000\n');
    child.kill('no_more_use');
    await child.ended;
  });
});

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

async function* chunked(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a');
  throw new Error('storage is unavailable');
}
