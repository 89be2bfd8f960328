/** Requests that are carried out once, however often they are sent: by what their client calls them, for 24 hours. */
import { Repository } from './repository.ts';

/** Rows that are deleted along with a claim: more than come. */
const SWEPT = 20;
const KEPT = "interval '24 hours'";

export interface IdempotentRequest {
  readonly org: string;
  readonly apiKeyId: string;
  /** 1 to 200 characters, of the client's making. */
  readonly key: string;
}

export type RequestClaim =
  /** It is the caller's to carry out. `madeAt`: when it first was; the same again where an attempt has left no answer. */
  | { readonly outcome: 'claimed'; readonly madeAt: Date }
  /** Somebody carries it out. */
  | { readonly outcome: 'running' }
  | { readonly outcome: 'answered'; readonly answer: Buffer }
  /** Another request was made under this key. */
  | { readonly outcome: 'other' };

export class IdempotentRequests extends Repository {
  /**
   * @param options.fingerprint 32 bytes of what is asked for
   * @param options.forMs how long it takes at most, in milliseconds: without an answer by then the next one may claim it
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
      // Gone in between: whoever took it back has just ended.
      if (known === undefined || known.answer === null) return { outcome: 'running' };
      return { outcome: 'answered', answer: known.answer };
    });
  }

  /** It was carried out: this is what was answered, at most 4 MiB. */
  async answered({ org, apiKeyId, key }: IdempotentRequest, answer: Buffer): Promise<void> {
    await this.database.queryAs(
      org,
      'UPDATE parley.idempotent_requests SET answer = $4 WHERE org = $1 AND api_key_id = $2 AND key = $3 AND answer IS NULL',
      [org, apiKeyId, key, answer],
    );
  }

  /** Nothing was made: another request may be made under the key. */
  async forget({ org, apiKeyId, key }: IdempotentRequest): Promise<void> {
    await this.database.queryAs(
      org,
      'DELETE FROM parley.idempotent_requests WHERE org = $1 AND api_key_id = $2 AND key = $3 AND answer IS NULL',
      [org, apiKeyId, key],
    );
  }

  /** It may have been carried out in part: the same request may be made again at once, and no other. */
  async release({ org, apiKeyId, key }: IdempotentRequest): Promise<void> {
    await this.database.queryAs(
      org,
      'UPDATE parley.idempotent_requests SET claimed_until = clock_timestamp() WHERE org = $1 AND api_key_id = $2 AND key = $3 AND answer IS NULL',
      [org, apiKeyId, key],
    );
  }

  /** Deletes what is older than 24 hours, `limit` (500) rows at most. @returns how many went */
  async prune({ org, limit = 500 }: { readonly org: string; readonly limit?: number }): Promise<number> {
    return this.database.asOrganization(org, async (transaction) => (await transaction.query(DELETION, [org, limit])).rowCount);
  }
}

/** What another claim is deleting at the same moment is left to it. */
const DELETION = `DELETE FROM parley.idempotent_requests WHERE org = $1 AND (api_key_id, key) IN (
  SELECT api_key_id, key FROM parley.idempotent_requests WHERE org = $1 AND made_at < now() - ${KEPT} LIMIT $2 FOR UPDATE SKIP LOCKED)`;
