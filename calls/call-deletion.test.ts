import { expect, it } from 'vitest';

import { StorageError } from '../knowledge/storage/file-storage.ts';
import type { CallRecord } from '../store/index.ts';
import { CallDeletion } from './call-deletion.ts';
import { recordingKey } from './names.ts';

const ref = { org: 'acme', id: 'call_1' };
const key = recordingKey(ref.org, ref.id);

/** Makes a deletion with a call, its file, and a list of what was done to them. */
function deletionOf(world: { status?: CallRecord['status'] | undefined; key?: string | null; broken?: boolean; savedMeanwhile?: boolean }) {
  const done: string[] = [];
  const deletion = new CallDeletion({
    store: {
      calls: {
        get: async () => world.status && ({ status: world.status, recording: world.key == null ? null : { key: world.key } } as CallRecord),
      },
      deletions: {
        delete: async ({ recordingKey: known }) => {
          if (world.savedMeanwhile === true) Object.assign(world, { savedMeanwhile: false, key: 'saved' });
          if (known !== (world.key ?? null)) return false;
          world.status = undefined;
          done.push('row');
          return true;
        },
        callsDue: async () => (world.status === 'ended' ? [ref.id] : []),
        recordingsDue: async () => (world.key == null ? [] : [{ id: ref.id, key: world.key }]),
        forgetRecording: async () => void done.push('recording of the row'),
        settled: async () => [ref.id],
        forget: async () => void done.push('note'),
      },
    },
    files: {
      delete: async (file) => {
        if (world.broken === true) throw new StorageError('unavailable', 'away');
        done.push(file);
      },
    },
  });
  return { deletion, done };
}

it('a call goes after its file', async () => {
  const { deletion, done } = deletionOf({ status: 'ended', key: 'its key' });
  expect(await deletion.delete(ref)).toBe('deleted');
  expect(done).toEqual(['its key', 'row']);
  expect(await deletion.delete(ref)).toBe('not_found');
});

it('what a job may have begun to upload goes, too', async () => {
  const { deletion, done } = deletionOf({ status: 'error' });
  expect(await deletion.delete(ref)).toBe('deleted');
  expect(done).toEqual([key, 'row']);
});

it('a recording that is saved meanwhile is deleted before the call', async () => {
  const { deletion, done } = deletionOf({ status: 'ended', savedMeanwhile: true });
  expect(await deletion.delete(ref)).toBe('deleted');
  expect(done).toEqual([key, 'saved', 'row']);
});

it.each(['registered', 'ongoing'] as const)('a call that is %s stays', async (status) => {
  const { deletion, done } = deletionOf({ status });
  expect(await deletion.delete(ref)).toBe('live');
  expect(done).toEqual([]);
});

it('no row goes while the storage is away', async () => {
  const { deletion, done } = deletionOf({ status: 'ended', key: 'its key', broken: true });
  const batch = { org: ref.org, limit: 10 };
  for (const work of [
    () => deletion.delete(ref),
    () => deletion.dueCalls(batch),
    () => deletion.dueRecordings(batch),
    () => deletion.settledDeletions(batch),
  ])
    await expect(work()).rejects.toThrow('away');
  expect(done).toEqual([]);
});

it('what is due goes in batches', async () => {
  const { deletion, done } = deletionOf({ status: 'ended', key: 'its key' });
  const batch = { org: ref.org, limit: 10 };
  expect([await deletion.dueRecordings(batch), await deletion.dueCalls(batch), await deletion.settledDeletions(batch)]).toEqual([1, 1, 1]);
  expect(done).toEqual(['its key', 'recording of the row', 'its key', 'row', key, 'note']);
});
