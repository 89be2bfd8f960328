import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { openFileStorage, type OpenedFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { credentials, S3Server } from './storage-s3-server.ts';

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const stream = (content: Buffer): Readable => Readable.from(slices(content, 64 * 1024), { objectMode: false });
function* slices(content: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
const key = (): string => `org-a/${randomUUID()}/file`;
const megabyte = 1024 * 1024;

/** Content that says how much of it was taken, and ends on command only. */
function endless(): { readonly content: Readable; readonly taken: () => number } {
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
  /** Whatever is kept, also what is no file yet. */
  readonly leftovers: () => Promise<readonly string[]>;
}

/** What every storage has to do. */
function contract(subject: () => Subject): void {
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
    // Not much further than the limit: it streams, and stops.
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
        if (sent >= 18 * megabyte) return;
        sent += megabyte;
        this.push(Buffer.alloc(megabyte));
        // From here on nothing comes any more, and nothing ends.
        if (sent >= 18 * megabyte) setTimeout(() => aborting.abort(new Error('stopped')), 50);
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

describe('files in a directory', () => {
  let folder: string;
  let storage: OpenedFileStorage;
  const filesIn = async (): Promise<readonly string[]> =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);

  beforeAll(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'parley-files-')), 'made', 'by itself');
    storage = openFileStorage({ url: pathToFileURL(folder).href });
  });
  afterAll(() => rm(join(folder, '..', '..'), { recursive: true, force: true }));

  contract(() => ({ storage, leftovers: filesIn }));

  it('is readable by its owner only, and takes empty folders away', async () => {
    await storage.put('org-m/doc/file', Readable.from(['x']), { maxBytes: 10 });
    await storage.put('org-m/doc/page-1', Readable.from(['x']), { maxBytes: 10 });
    const mode = async (path: string): Promise<number> => (await stat(join(folder, path))).mode & 0o777;
    expect(await mode('org-m/doc/file')).toBe(0o600);
    expect(await mode('org-m')).toBe(0o700);
    await storage.delete('org-m/doc/file');
    expect(await readdir(join(folder, 'org-m/doc'))).toEqual(['page-1']);
    await storage.delete('org-m/doc/page-1');
    await expect(stat(join(folder, 'org-m'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('survives deleting and putting in the same folder at the same time', async () => {
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        await storage.put(`org-r/doc/f-${index}`, Readable.from(['x']), { maxBytes: 10 });
        await storage.delete(`org-r/doc/f-${index}`);
      }),
    );
    expect(await storage.list('org-r/', { limit: 1000 })).toEqual([]);
  });

  it('removes what a killed process left behind, once it is a day old', async () => {
    const incoming = join(folder, '.incoming');
    const old = new Date(Date.now() - 25 * 3_600_000);
    await writeFile(join(incoming, 'old'), 'half a file');
    await utimes(join(incoming, 'old'), old, old);
    await writeFile(join(incoming, 'young'), 'half a file of somebody who is still at it');
    expect(await storage.list('', { limit: 1000 })).not.toContainEqual(expect.stringContaining('incoming'));
    // As another process does when it first puts something.
    await openFileStorage({ url: pathToFileURL(folder).href }).put('org-s/x', Readable.from(['x']), { maxBytes: 10 });
    expect(await readdir(incoming)).toEqual(['young']);
    await rm(join(incoming, 'young'));
    await storage.delete('org-s/x');
  });

  it('survives content that breaks while the folder is prepared', async () => {
    const content = new Readable({ read: () => undefined });
    const broken = new Error('gone');
    setImmediate(() => content.destroy(broken));
    const fresh = openFileStorage({ url: pathToFileURL(folder).href });
    await expect(fresh.put('org-t/x', content, { maxBytes: 10 })).rejects.toBe(broken);
  });

  it('follows no link', async () => {
    await writeFile(join(folder, '..', 'secret'), 'secret');
    await symlink(join(folder, '..', 'secret'), join(folder, 'link'));
    await expect(storage.read('link')).rejects.toMatchObject({ kind: 'not_found' });
    expect(await storage.list('link', { limit: 10 })).toEqual([]);
  });

  it('says so when the folder is closed', async () => {
    let parent = join(folder, '..', 'closed');
    await mkdir(parent, { recursive: true, mode: 0o500 });
    // Root may write wherever it is not the kernel that says no.
    if (process.getuid?.() === 0) parent = '/sys';
    const closed = openFileStorage({ url: pathToFileURL(join(parent, 'parley')).href });
    const refused = { name: 'StorageError', kind: 'refused', message: expect.stringContaining('STORAGE_URL') as string };
    await expect(closed.put('a', Readable.from(['x']), { maxBytes: 10 })).rejects.toMatchObject(refused);
    await expect(closed.health()).rejects.toMatchObject(refused);
  });

  it('is not healthy where there can be no folder', async () => {
    const file = join(folder, '..', 'a-file');
    await writeFile(file, '');
    await expect(openFileStorage({ url: pathToFileURL(join(file, 'x')).href }).health()).rejects.toMatchObject({
      name: 'StorageError',
    });
  });
});

describe('files in a bucket (a real S3 server)', () => {
  let server: S3Server;
  let storage: OpenedFileStorage;
  const urlOf = (bucket: string, prefix = ''): string => `s3://${bucket}${prefix}?endpoint=${server.endpoint}&forcePathStyle=true`;

  beforeAll(async () => {
    server = await S3Server.start();
    await server.createBucket('parley-files');
    storage = openFileStorage({ url: urlOf('parley-files', '/some/prefix'), credentials });
  });
  afterAll(async () => {
    storage.close();
    await server.remove();
  });

  contract(() => ({ storage, leftovers: () => server.filesOf('parley-files') }));

  it('leaves no upload unfinished', async () => {
    const { content } = endless();
    await expect(storage.put(key(), content, { maxBytes: 30 * megabyte })).rejects.toMatchObject({ kind: 'too_large' });
    const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
    const { Uploads: uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'parley-files' }));
    client.destroy();
    expect(uploads ?? []).toEqual([]);
  });

  it('keeps to its prefix', async () => {
    await storage.put('org-p/x', Readable.from(['x']), { maxBytes: 10 });
    const whole = openFileStorage({ url: urlOf('parley-files'), credentials });
    expect(await whole.list('some/prefix/org-p/', { limit: 10 })).toEqual(['some/prefix/org-p/x']);
    const other = openFileStorage({ url: urlOf('parley-files', '/other'), credentials });
    expect(await other.list('', { limit: 10 })).toEqual([]);
    whole.close();
    other.close();
  });

  it.each([
    ['a bucket that is not there', () => ({ url: urlOf('no-such-bucket'), credentials })],
    ['a wrong secret', () => ({ url: urlOf('parley-files'), credentials: { ...credentials, secretAccessKey: 'wrong' } })],
    ['an unknown key id', () => ({ url: urlOf('parley-files'), credentials: { ...credentials, accessKeyId: 'absent' } })],
  ])('is refused for %s', async (_, options) => {
    const wrong = openFileStorage(options());
    const refused = { name: 'StorageError', kind: 'refused' };
    await expect(wrong.health()).rejects.toMatchObject(refused);
    await expect(wrong.put('a', Readable.from(['x']), { maxBytes: 10 })).rejects.toMatchObject(refused);
    await expect(wrong.read('a')).rejects.toMatchObject(refused);
    wrong.close();
  });

  it('is unavailable while the server is down, and works when it is back', async () => {
    const name = key();
    await storage.put(name, Readable.from(['still there']), { maxBytes: 100 });
    await server.down();
    const unavailable = { name: 'StorageError', kind: 'unavailable', retryable: true };
    await expect(storage.health()).rejects.toMatchObject(unavailable);
    await expect(storage.read(name)).rejects.toMatchObject(unavailable);
    await expect(storage.put(key(), stream(Buffer.alloc(20 * megabyte)), { maxBytes: 100 * megabyte })).rejects.toMatchObject(unavailable);
    await expect(storage.delete(name)).rejects.toMatchObject(unavailable);
    await expect(storage.list('', { limit: 1 })).rejects.toMatchObject(unavailable);
    await server.up();
    expect((await buffer(await storage.read(name))).toString()).toBe('still there');
  });
});

describe('a server that breaks in the middle of a file', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  it('is unavailable, not a short file', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nthe beginning');
        setTimeout(() => socket.destroy(), 50);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const storage = openFileStorage({ url: `s3://b?endpoint=${endpoint}&forcePathStyle=true`, credentials });
    const reading = await storage.read('a');
    await expect(buffer(reading)).rejects.toMatchObject({ name: 'StorageError', kind: 'unavailable' });
    storage.close();
  });
});

describe('STORAGE_URL', () => {
  it.each([
    'http://x/y',
    'file://host/folder',
    's3:///x',
    's3://key:secret@bucket',
    's3://bucket?endpoint=ftp://x',
    's3://bucket?forcePathStyle=yes',
    's3://bucket?acl=public',
    'nonsense',
  ])('%s is refused', (url) => {
    expect(() => openFileStorage({ url })).toThrow(RangeError);
  });
});
