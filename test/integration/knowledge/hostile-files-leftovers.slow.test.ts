/** No process, descriptor, listener or temporary file stays of hundreds of files, a quarter of them refused, cancelled or left. */
import { getEventListeners } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';

import { expect, it } from 'vitest';

import { mulberry } from '../../../platform/mulberry.ts';
import { forEachOf } from '../../bench/harness/rounds.ts';
import { childrenOf, residentBytesOf } from '../../support/child-processes.ts';
import { QUICK_HOSTILE_FILES } from '../../support/documents/hostile-files.ts';
import { HONEST_FILES } from '../../support/documents/honest-files.ts';
import { outcomeOf, parserPool, read } from '../../support/documents/read.ts';
import { eventually } from '../../support/eventually.ts';

const FILES = Number(process.env['PARLEY_TEST_FILES'] ?? 400);
const seed = Number(process.env['PARLEY_TEST_SEED'] ?? Date.now() % 1e6);
const hostile = QUICK_HOSTILE_FILES.filter(([what]) => what !== '20,000 nested quotes');

/** Lists what a process has open; sockets and pipes have no name that stays. */
function openFiles(pid: number | 'self'): readonly string[] {
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return links.map((link) => link.replace(/:\[.*/u, '')).sort();
}

it.runIf(process.platform === 'linux')(`leaves nothing behind after ${FILES} files (PARLEY_TEST_SEED=${seed})`, async () => {
  const random = mulberry(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  // Both kinds of files are read once, so that what the parent itself opens with its first child is open.
  const first = parserPool({ size: 1 });
  for (const extension of ['txt', 'pdf'])
    await outcomeOf(first, HONEST_FILES.find((file) => file.extension === extension) ?? pick(HONEST_FILES));
  await first.close();
  const before = { files: openFiles('self').length, children: childrenOf(process.pid).length };

  const pool = parserPool({ size: 3 });
  const shared = new AbortController();
  const counts = { read: 0, refused: 0, cancelled: 0, left: 0 };
  await forEachOf(
    Array.from({ length: FILES }, (_, at) => at),
    6,
    async () => {
      const way = random();
      if (way < 0.1) {
        const [, extension, content] = pick(hostile);
        expect(await outcomeOf(pool, { content, extension, signal: shared.signal })).toContain('"code"');
        counts.refused += 1;
      } else if (way < 0.2) {
        const stop = new AbortController();
        const reading = read(pool, { ...pick(HONEST_FILES), signal: stop.signal }).catch((error: unknown) => error);
        setTimeout(() => stop.abort(new Error('cancelled')), Math.floor(random() * 20));
        await reading;
        expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
        counts.cancelled += 1;
      } else if (way < 0.25) {
        const content = (async function* () {
          for (let at = 0; at < 40; at += 1) yield Buffer.from('a\n\n'.repeat(10_000));
        })();
        for await (const _ of pool.parse({ content, extension: 'txt', signal: shared.signal }).blocks()) break;
        counts.left += 1;
      } else {
        expect(await outcomeOf(pool, { ...pick(HONEST_FILES), signal: shared.signal })).toContain('"blocks"');
        counts.read += 1;
      }
    },
  );
  expect(counts.read).toBeGreaterThan(0.6 * FILES);
  for (const count of [counts.refused, counts.cancelled, counts.left]) expect(count).toBeGreaterThan(0.02 * FILES);
  expect(getEventListeners(shared.signal, 'abort')).toEqual([]);

  // Idle processes have their pipes, what Node opens for itself, and no file.
  const idle = childrenOf(process.pid);
  expect(idle.length).toBeLessThanOrEqual(before.children + 6);
  for (const pid of idle) {
    expect(openFiles(pid).filter((name) => name.startsWith('/') && !/^\/(?:dev|proc)\//u.test(name))).toEqual([]);
    expect(openFiles(pid).length).toBeLessThan(40);
    expect(residentBytesOf(pid)).toBeLessThan(300_000_000);
  }
  await pool.close();
  await eventually(() => {
    expect(childrenOf(process.pid).length).toBe(before.children);
    expect(openFiles('self').length).toBeLessThanOrEqual(before.files);
  });
});
