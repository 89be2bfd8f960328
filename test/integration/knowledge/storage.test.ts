import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { OpenedFileStorage } from '../../../knowledge/storage/file-storage.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { storageContract } from './storage-contract.ts';
import { credentials } from './storage-s3-server.ts';

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

  storageContract(() => ({ storage, leftovers: filesIn }));

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
    // Another process does the same when it first puts something.
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
    // Root may write anywhere, unless the kernel says no.
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

describe('a server that breaks in the middle of a file', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  it('is unavailable, not a short file', async () => {
    const connected: Socket[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nthe beginning');
        connected.push(socket);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const storage = openFileStorage({ url: `s3://b?endpoint=${endpoint}&forcePathStyle=true`, credentials });
    const reading = await storage.read('a');
    for (const socket of connected) socket.destroy();
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
