/** Uses a real S3 server, which is built from source where it is missing. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { OpenedFileStorage } from '../../../knowledge/storage/file-storage.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { endless, key, megabyte, storageContract, stream } from './storage-contract.ts';
import { credentials, S3Server } from './storage-s3-server.ts';

describe('files in a bucket', () => {
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

  storageContract(() => ({ storage, leftovers: () => server.filesOf('parley-files') }));

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
