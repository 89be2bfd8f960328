/** Deletes calls and recordings: each on request, or all that are past their time. */
import { redact } from '../events/redact.ts';
import type { FileStorage } from '../knowledge/storage/file-storage.ts';
import { type CallRef, type CallStore, isTerminal } from '../store/index.ts';
import { recordingKey } from './names.ts';

export interface CallDeletionOptions {
  readonly store: { readonly calls: Pick<CallStore['calls'], 'get'>; readonly deletions: Omit<CallStore['deletions'], 'has'> };
  readonly files: Pick<FileStorage, 'delete'>;
}

/** Deletes at most `limit` for one organisation. @returns how many were due. @throws StorageError, StoreError */
type DeleteBatch = (batch: { readonly org: string; readonly limit: number }) => Promise<number>;

/** Files go first: whatever fails or dies in between, a row still says what there is to delete. */
export class CallDeletion {
  readonly #store: CallDeletionOptions['store'];
  readonly #files: CallDeletionOptions['files'];

  constructor({ store, files }: CallDeletionOptions) {
    this.#store = store;
    this.#files = files;
  }

  /**
   * @param erasure id of the erasure of a person that the call belongs to
   * @returns `live` for a call that isn't over, which stays
   * @throws StorageError, StoreError: what is left is deleted by the next attempt
   */
  async delete({ org, id, erasure }: CallRef & { readonly erasure?: string }): Promise<'deleted' | 'live' | 'not_found'> {
    const { calls, deletions } = this.#store;
    for (let attempt = 0; ; attempt += 1) {
      const call = await calls.get({ org, id });
      if (call === undefined) return attempt === 0 ? 'not_found' : 'deleted';
      if (!isTerminal(call.status)) return 'live';
      const key = call.recording?.key ?? null;
      await this.#files.delete(key ?? recordingKey(org, id));
      // A job that has saved its recording meanwhile leads to another attempt.
      if (await deletions.delete({ org, id, recordingKey: key, redact, erasure })) return 'deleted';
    }
  }

  readonly dueCalls: DeleteBatch = async ({ org, limit }) => {
    const due = await this.#store.deletions.callsDue({ org, limit });
    for (const id of due) await this.delete({ org, id });
    return due.length;
  };

  readonly dueRecordings: DeleteBatch = async ({ org, limit }) => {
    const due = await this.#store.deletions.recordingsDue({ org, limit });
    for (const { id, key } of due) {
      await this.#files.delete(key);
      await this.#store.deletions.forgetRecording({ org, id, key });
    }
    return due.length;
  };

  /** Deletes again what an upload may have left that ran while its call was deleted, and whose spool is lost. */
  readonly settledDeletions: DeleteBatch = async ({ org, limit }) => {
    const settled = await this.#store.deletions.settled({ org, limit });
    for (const id of settled) {
      await this.#files.delete(recordingKey(org, id));
      await this.#store.deletions.forget({ org, id });
    }
    return settled.length;
  };
}
