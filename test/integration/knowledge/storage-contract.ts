/** Declares the tests that every storage of files has to pass. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { expect, it } from 'vitest';

import type { OpenedFileStorage } from '../../../knowledge/storage/file-storage.ts';

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
export const stream = (content: Buffer): Readable => Readable.from(slices(content, 64 * 1024), { objectMode: false });
function* slices(content: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
export const key = (): string => `org-a/${randomUUID()}/file`;
export const megabyte = 1024 * 1024;

/** Makes content that says how much of it was taken, and ends on command only. */
export function endless(): { readonly content: Readable; readonly taken: () => number } {
  let taken = 0;
  const content = new Readable({
    read() {
      taken += 64 * 1024;
      this.push(Buffer.alloc(64 * 1024, 7));
    },
  });
  return { content, taken: () => taken };
}

interface Subject {
  readonly storage: OpenedFileStorage;
  /** Lists everything that is kept, also what is no file yet. */
  readonly leftovers: () => Promise<readonly string[]>;
}

export function storageContract(subject: () => Subject): void {
  const put = (name: string, content: Readable, maxBytes = 100 * megabyte, signal?: AbortSignal) =>
    subject().storage.put(name, content, { maxBytes, ...(signal === undefined ? {} : { signal }) });

  it.each([0, 1, 5 * megabyte, 8 * megabyte, 8 * megabyte + 1, 20 * megabyte])('keeps %i bytes and gives them back', async (size) => {
    const content = randomBytes(size);
    const name = key();
    expect(await put(name, stream(content))).toEqual({ bytes: size, sha256: sha256(content) });
    const back = await buffer(await subject().storage.read(name));
    expect(back.equals(content)).toBe(true);
  });

  it('gives a part of a file', async () => {
    const content = randomBytes(100_000);
    const name = key();
    await put(name, stream(content));
    for (const [start, end] of [
      [0, 0],
      [500, 70_000],
      [99_999, 99_999],
    ] as const) {
      const part = await buffer(await subject().storage.read(name, { range: { start, end } }));
      expect(part.equals(content.subarray(start, end + 1))).toBe(true);
    }
  });

  it('replaces what was there', async () => {
    const name = key();
    await put(name, Readable.from(['first']));
    await put(name, Readable.from(['second, longer']));
    expect((await buffer(await subject().storage.read(name))).toString()).toBe('second, longer');
  });

  it('takes exactly maxBytes, and leaves nothing of what is longer', async () => {
    const name = key();
    await expect(put(name, stream(Buffer.alloc(1000)), 1000)).resolves.toMatchObject({ bytes: 1000 });
    await subject().storage.delete(name);
    const before = await subject().leftovers();
    await expect(put(key(), stream(Buffer.alloc(1001)), 1000)).rejects.toMatchObject({ name: 'StorageError', kind: 'too_large' });
    const { content, taken } = endless();
    await expect(put(key(), content, 25 * megabyte)).rejects.toMatchObject({ kind: 'too_large' });
    // The storage takes not much more than the limit: it streams, and stops.
    expect(taken()).toBeLessThan(50 * megabyte);
    expect(content.destroyed).toBe(true);
    expect(await subject().leftovers()).toEqual(before);
  });

  it('leaves nothing when the content breaks in the middle, and throws what it broke with', async () => {
    const before = await subject().leftovers();
    const broken = new Error('the client went away');
    const content = Readable.from(
      (function* () {
        yield* slices(Buffer.alloc(18 * megabyte), megabyte);
        throw broken;
      })(),
      { objectMode: false },
    );
    const name = key();
    await expect(put(name, content)).rejects.toBe(broken);
    await expect(subject().storage.read(name)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await subject().leftovers()).toEqual(before);
  });

  it('throws what the content broke with before it was looked at', async () => {
    const broken = new Error('gone already');
    const content = new Readable({ read: () => undefined });
    content.destroy(broken);
    await expect(put(key(), content)).rejects.toBe(broken);
    const soon = new Readable({ read: () => undefined });
    queueMicrotask(() => soon.destroy(broken));
    await expect(put(key(), soon)).rejects.toBe(broken);
  });

  it('leaves nothing when it is aborted, also while it waits for content', async () => {
    const before = await subject().leftovers();
    const aborting = new AbortController();
    let sent = 0;
    const content = new Readable({
      read() {
        // All that came has been taken; nothing more comes, and nothing ends.
        if (sent >= 18 * megabyte) return aborting.abort(new Error('stopped'));
        sent += megabyte;
        this.push(Buffer.alloc(megabyte));
      },
    });
    await expect(put(key(), content, 100 * megabyte, aborting.signal)).rejects.toThrow('stopped');
    expect(content.destroyed).toBe(true);
    expect(await subject().leftovers()).toEqual(before);
    await expect(put(key(), Readable.from(['x']), 10, aborting.signal)).rejects.toThrow('stopped');
  });

  it('says not_found for what is not there; deleting that is fine', async () => {
    const name = key();
    await expect(subject().storage.read(name)).rejects.toMatchObject({ name: 'StorageError', kind: 'not_found' });
    await subject().storage.delete(name);
    await put(name, Readable.from(['x']));
    await subject().storage.delete(name);
    await subject().storage.delete(name);
    await expect(subject().storage.read(name)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('lists keys in the order of their bytes, page by page', async () => {
    const root = `list-${randomUUID()}`;
    const names = ['a/1', 'a-b/1', 'a/2', 'a_b/1', 'B/1', 'a/10', 'b/x/y/z', 'b/x/a', 'a0/1'].map((name) => `${root}/${name}`);
    for (const name of names) await put(name, Readable.from(['x']));
    const sorted = [...names].sort();
    const list = (prefix: string, after: string | undefined, limit: number) =>
      subject().storage.list(prefix, { limit, ...(after === undefined ? {} : { after }) });
    expect(await list(`${root}/`, undefined, 100)).toEqual(sorted);
    const paged: string[] = [];
    for (;;) {
      const page = await list(`${root}/`, paged.at(-1), 2);
      expect(page.length).toBeLessThanOrEqual(2);
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(sorted);
    expect(await list(`${root}/a/`, undefined, 100)).toEqual([`${root}/a/1`, `${root}/a/10`, `${root}/a/2`]);
    expect(await list(`${root}/a`, `${root}/a/10`, 100)).toEqual(
      sorted.filter((name) => name > `${root}/a/10` && name.startsWith(`${root}/a`)),
    );
    expect(await list(`${root}/b/x/`, `${root}/b/x/a`, 1)).toEqual([`${root}/b/x/y/z`]);
    expect(await list(`${root}/nothing/`, undefined, 100)).toEqual([]);
  });

  it.each([
    '../x',
    'a/../../x',
    '/etc/passwd',
    'a//b',
    '',
    'a/',
    '.incoming/x',
    'a/.x',
    'a\0b',
    'a b',
    'ä',
    'a'.repeat(513),
    'a/..',
    '%2e%2e/x',
    'a\\b',
  ])('refuses the key %j everywhere', async (name) => {
    const refused = { name: 'StorageError', kind: 'refused' };
    await expect(put(name, Readable.from(['x']))).rejects.toMatchObject(refused);
    await expect(subject().storage.read(name)).rejects.toMatchObject(refused);
    await expect(subject().storage.delete(name)).rejects.toMatchObject(refused);
  });

  it('keeps many at a time apart', async () => {
    const files = Array.from({ length: 20 }, () => ({ name: key(), content: randomBytes(200_000) }));
    await Promise.all(files.map(({ name, content }) => put(name, stream(content))));
    await Promise.all(
      files.map(async ({ name, content }) => expect((await buffer(await subject().storage.read(name))).equals(content)).toBe(true)),
    );
    await Promise.all(files.map(({ name }) => subject().storage.delete(name)));
  });

  it('lets a reader stop in the middle', async () => {
    const name = key();
    await put(name, stream(randomBytes(10 * megabyte)));
    const reading = await subject().storage.read(name);
    for await (const _ of reading) break;
    expect(reading.destroyed).toBe(true);
    const aborting = new AbortController();
    const aborted = await subject().storage.read(name, { signal: aborting.signal });
    aborting.abort(new Error('enough'));
    await expect(buffer(aborted)).rejects.toThrow(/abort|enough/);
  });

  it('is healthy', async () => {
    await expect(subject().storage.health()).resolves.toBeUndefined();
  });
}
