/** Caches vectors by the hash of the text that they embed. */
import { Repository } from '../repository.ts';
import { DAY_MS } from '../../platform/time.ts';

export class EmbeddingCacheRows extends Repository {
  /** @param keys SHA-256, lower-case hex. @returns the vectors of known keys */
  async get(org: string, keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    const { rows } = await this.database.queryAs<{ key: Buffer; vector: Buffer }>(
      org,
      'UPDATE parley.embedding_cache SET used_at = now() WHERE org = $1 AND key = ANY ($2) RETURNING key, vector',
      [org, keys.map((key) => Buffer.from(key, 'hex'))],
    );
    // This copies the bytes, because the driver's buffers start at any offset.
    return new Map(rows.map(({ key, vector }) => [key.toString('hex'), new Float32Array(Uint8Array.from(vector).buffer)]));
  }

  async put(org: string, entries: ReadonlyMap<string, Float32Array>): Promise<void> {
    if (entries.size === 0) return;
    // A fixed order keeps two batches with texts in common from a deadlock.
    const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
    await this.database.queryAs(
      org,
      `INSERT INTO parley.embedding_cache (org, key, vector) SELECT $1, x.key, x.vector FROM unnest($2::bytea[], $3::bytea[]) AS x (key, vector)
       ON CONFLICT (org, key) DO UPDATE SET used_at = now()`,
      [
        org,
        sorted.map(([key]) => Buffer.from(key, 'hex')),
        sorted.map(([, vector]) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)),
      ],
    );
  }

  /** Deletes rows unused for `unusedForMs` (30 days), `limit` (500) at most. @returns how many were deleted */
  async prune({
    org,
    unusedForMs = 30 * DAY_MS,
    limit = 500,
  }: {
    readonly org: string;
    readonly unusedForMs?: number;
    readonly limit?: number;
  }): Promise<number> {
    const { rowCount } = await this.database.queryAs(
      org,
      `DELETE FROM parley.embedding_cache WHERE org = $1 AND key IN (
           SELECT key FROM parley.embedding_cache WHERE org = $1 AND used_at < now() - $2 * interval '1 millisecond' LIMIT $3)`,
      [org, unusedForMs, limit],
    );
    return rowCount;
  }
}
