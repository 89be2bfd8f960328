/** Carries requests out once, however often they are sent, by the key that their client gives them, for 24 hours. */
import { Repository } from './repository.ts';

/** Expired rows that each claim deletes: more than are written, so that the table shrinks. */
const SWEPT = 20;
/** Most calls that an answer is found by. */
const MOST_CALLS = 1_000;
const KEPT = "interval '24 hours'";

export interface IdempotentRequest {
  readonly org: string;
  readonly apiKeyId: string;
  /** The client's key: 1 to 200 characters. */
  readonly key: string;
}

export type RequestClaim =
  /** The caller has to carry it out. `madeAt`: when it was first made; it stays the same where an attempt has left no answer. */
  | { readonly outcome: 'claimed'; readonly madeAt: Date }
  /** Another process is carrying it out. */
  | { readonly outcome: 'running' }
  | { readonly outcome: 'answered'; readonly answer: Buffer }
  /** A different request was made under this key. */
  | { readonly outcome: 'other' };

export class IdempotentRequests extends Repository {
  /**
   * @param options.fingerprint 32 bytes that identify the request's content
   * @param options.forMs longest time for carrying it out, in milliseconds: without an answer by then the next caller may claim it
   */
  async claim(
    { org, apiKeyId, key }: IdempotentRequest,
    { fingerprint, forMs }: { readonly fingerprint: Buffer; readonly forMs: number },
  ): Promise<RequestClaim> {
    return this.database.asOrganization(org, async (transaction) => {
      await transaction.query(DELETION, [org, SWEPT]);
      const { rows: claimed } = await transaction.query<{ madeAt: Date }>(
        `INSERT INTO parley.idempotent_requests AS known (org, api_key_id, key, fingerprint, claimed_until)
         VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond')
         ON CONFLICT (org, api_key_id, key) DO UPDATE SET
           made_at = CASE WHEN known.made_at < now() - ${KEPT} THEN now() ELSE known.made_at END,
           fingerprint = excluded.fingerprint, claimed_until = excluded.claimed_until, answer = NULL
         WHERE known.made_at < now() - ${KEPT}
           OR (known.answer IS NULL AND known.claimed_until <= clock_timestamp() AND known.fingerprint = excluded.fingerprint)
         RETURNING made_at AS "madeAt"`,
        [org, apiKeyId, key, fingerprint, forMs],
      );
      if (claimed[0] !== undefined) return { outcome: 'claimed', madeAt: claimed[0].madeAt };
      const { rows } = await transaction.query<{ fingerprint: Buffer; answer: Buffer | null }>(
        'SELECT fingerprint, answer FROM parley.idempotent_requests WHERE org = $1 AND api_key_id = $2 AND key = $3',
        [org, apiKeyId, key],
      );
      const [known] = rows;
      if (known !== undefined && !known.fingerprint.equals(fingerprint)) return { outcome: 'other' };
      // A missing row went in between: whoever took it back has just ended.
      if (known === undefined || known.answer === null) return { outcome: 'running' };
      return { outcome: 'answered', answer: known.answer };
    });
  }

  /** Stores the answer to a request that was carried out, at most 4 MiB. @param callIds the calls that it is about */
  async answered({ org, apiKeyId, key }: IdempotentRequest, answer: Buffer, callIds: readonly string[] = []): Promise<void> {
    await this.database.queryAs(
      org,
      'UPDATE parley.idempotent_requests SET answer = $4, call_ids = $5 WHERE org = $1 AND api_key_id = $2 AND key = $3 AND answer IS NULL',
      [org, apiKeyId, key, answer, callIds.slice(0, MOST_CALLS)],
    );
  }

  /** Forgets a request that changed nothing: another one may be made under the key. */
  async forget({ org, apiKeyId, key }: IdempotentRequest): Promise<void> {
    await this.database.queryAs(
      org,
      'DELETE FROM parley.idempotent_requests WHERE org = $1 AND api_key_id = $2 AND key = $3 AND answer IS NULL',
      [org, apiKeyId, key],
    );
  }

  /** Ends the claim of a request that may have been carried out in part: the same one may be made again at once, and no other. */
  async release({ org, apiKeyId, key }: IdempotentRequest): Promise<void> {
    await this.database.queryAs(
      org,
      'UPDATE parley.idempotent_requests SET claimed_until = clock_timestamp() WHERE org = $1 AND api_key_id = $2 AND key = $3 AND answer IS NULL',
      [org, apiKeyId, key],
    );
  }

  /** Deletes rows older than 24 hours, `limit` (500) at most. @returns how many were deleted */
  async prune({ org, limit = 500 }: { readonly org: string; readonly limit?: number }): Promise<number> {
    return this.database.asOrganization(org, async (transaction) => (await transaction.query(DELETION, [org, limit])).rowCount);
  }
}

/** Skips rows that another claim is deleting at the same moment. */
const DELETION = `DELETE FROM parley.idempotent_requests WHERE org = $1 AND (api_key_id, key) IN (
  SELECT api_key_id, key FROM parley.idempotent_requests WHERE org = $1 AND made_at < now() - ${KEPT} LIMIT $2 FOR UPDATE SKIP LOCKED)`;
