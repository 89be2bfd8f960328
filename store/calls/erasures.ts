/** Erasures of people: which calls are theirs, and what was erased. */
import { uuidv7 } from '../../platform/uuid.ts';
import type { Transaction } from '../database.ts';
import { Repository } from '../repository.ts';
import type { CallRef } from './call-record.ts';

/** Whose data is erased: that of one phone number, or of one value in the metadata of calls. */
export type ErasedPerson = { readonly phone: string } | { readonly metadataKey: string; readonly metadataValue: string };

/** Numbers of what was erased, by what it was. */
export type ErasureCounts = Readonly<Record<string, number>>;

export interface ErasureRef {
  readonly org: string;
  readonly id: string;
}

export interface Erasure extends ErasureRef {
  readonly state: 'running' | 'finished';
  readonly counts: ErasureCounts;
  /** Calls of the person that are not over: they are erased when they are. */
  readonly waitingCalls: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

interface Row extends Erasure, Record<string, unknown> {
  readonly phone: string | null;
  readonly metadataKey: string | null;
  readonly metadataValue: string | null;
}

const ID_SHAPE = /^erasure_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const COLUMNS = `org, id, state, counts, waiting_calls AS "waitingCalls", created_at AS "createdAt", finished_at AS "finishedAt",
  phone, metadata_key AS "metadataKey", metadata_value AS "metadataValue"`;

/** The calls of the person that an erasure names, by the row `e`. Either side of a call may have the number. */
const THEIRS = `(c.from_number = e.phone OR c.to_number = e.phone OR c.metadata ->> e.metadata_key = e.metadata_value)`;

export class PersonErasures extends Repository {
  /** Begins an erasure, or returns the one of this person that runs. */
  async begin(
    org: string,
    person: ErasedPerson,
    { requestedBy, newId = () => `erasure_${uuidv7()}` }: { readonly requestedBy: string; readonly newId?: () => string },
  ): Promise<Erasure> {
    const values = 'phone' in person ? [person.phone, null, null] : [null, person.metadataKey, person.metadataValue];
    return this.database.asOrganization(org, async (transaction) => {
      // Two requests at once begin one erasure.
      await transaction.query('SELECT FROM parley.organizations WHERE name = $1 FOR NO KEY UPDATE', [org]);
      const { rows: running } = await transaction.query<Row>(
        `SELECT ${COLUMNS} FROM parley.erasures WHERE org = $1 AND state = 'running'
           AND phone IS NOT DISTINCT FROM $2 AND metadata_key IS NOT DISTINCT FROM $3 AND metadata_value IS NOT DISTINCT FROM $4`,
        [org, ...values],
      );
      if (running[0] !== undefined) return toErasure(running[0]);
      const { rows } = await transaction.query<Row>(
        `INSERT INTO parley.erasures (org, phone, metadata_key, metadata_value, id, requested_by) VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`,
        [org, ...values, newId(), requestedBy],
      );
      return toErasure(rows[0]!);
    });
  }

  async get({ org, id }: ErasureRef): Promise<Erasure | undefined> {
    if (!ID_SHAPE.test(id)) return undefined;
    const { rows } = await this.database.queryAs<Row>(org, `SELECT ${COLUMNS} FROM parley.erasures WHERE org = $1 AND id = $2`, [org, id]);
    return rows[0] && toErasure(rows[0]);
  }

  /** Tells whether the number is one of the organisation's own, whose calls are those of many people. */
  async isOwnNumber(org: string, phone: string): Promise<boolean> {
    const { rowCount } = await this.database.queryAs(org, 'SELECT FROM parley.phone_routes WHERE org = $1 AND number = $2', [org, phone]);
    return rowCount > 0;
  }

  /** Returns erasures of all organisations that a worker has to see to. */
  async due({ limit }: { readonly limit: number }): Promise<readonly ErasureRef[]> {
    const { rows } = await this.database.asDirectory((transaction) =>
      transaction.query<ErasureRef & Record<string, unknown>>(
        `SELECT org, id FROM parley.erasures WHERE state = 'running' AND due_at <= now() ORDER BY due_at LIMIT $1`,
        [limit],
      ),
    );
    return rows;
  }

  /** Takes an erasure on for a while; a worker that dies leaves it to the next one. @returns false where another worker has it */
  async claim({ org, id }: ErasureRef, { forMs }: { readonly forMs: number }): Promise<boolean> {
    const { rowCount } = await this.database.queryAs(
      org,
      `UPDATE parley.erasures SET due_at = now() + $3 * interval '1 millisecond' WHERE org = $1 AND id = $2 AND state = 'running' AND due_at <= now()`,
      [org, id, forMs],
    );
    return rowCount > 0;
  }

  /** Returns ids of the person's calls, those that are over first. */
  async callsOf({ org, id }: ErasureRef, { over, limit }: { readonly over: boolean; readonly limit: number }): Promise<readonly string[]> {
    const { rows } = await this.database.queryAs<{ id: string }>(
      org,
      `SELECT c.id FROM parley.calls c JOIN parley.erasures e ON e.org = c.org AND e.id = $2
       WHERE c.org = $1 AND ${THEIRS} AND (c.status IN ('ended', 'error')) = $3 ORDER BY c.id LIMIT $4`,
      [org, id, over, limit],
    );
    return rows.map((row) => row.id);
  }

  /** Erases what is kept of the person apart from their calls: results of tests that name their number, and answers to lookups. */
  async eraseTraces({ org, id }: ErasureRef): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      const results = await transaction.query(
        `UPDATE parley.test_results t SET result = NULL, message = NULL FROM parley.erasures e
         WHERE t.org = $1 AND e.org = $1 AND e.id = $2 AND t.result IS NOT NULL AND e.phone LIKE '+%' AND strpos(t.result::text, e.phone) > 0`,
        [org, id],
      );
      // Nobody knows whose an answer is, and each is looked up again where it is missing.
      const cached = await transaction.query('DELETE FROM parley.dynamic_data_cache WHERE org = $1', [org]);
      await addCounts(transaction, { org, id }, { test_results: results.rowCount, cached_lookups: cached.rowCount });
    });
  }

  /** Ends the erasure, and forgets whom it was about; while calls are not over it is due again later. */
  async settle(
    { org, id }: ErasureRef,
    { waitingCalls, againInMs }: { readonly waitingCalls: number; readonly againInMs: number },
  ): Promise<void> {
    if (waitingCalls > 0)
      await this.database.queryAs(
        org,
        `UPDATE parley.erasures SET waiting_calls = $3, due_at = now() + $4 * interval '1 millisecond' WHERE org = $1 AND id = $2 AND state = 'running'`,
        [org, id, waitingCalls, againInMs],
      );
    else
      await this.database.queryAs(
        org,
        `UPDATE parley.erasures SET state = 'finished', finished_at = now(), waiting_calls = 0, phone = NULL, metadata_key = NULL, metadata_value = NULL
         WHERE org = $1 AND id = $2 AND state = 'running'`,
        [org, id],
      );
  }
}

/** Counts what goes with a call, and erases what else names it. The call goes in the same transaction. */
export async function eraseCallTraces(
  transaction: Transaction,
  { org, id }: CallRef,
  {
    erasure,
    redact,
  }: { readonly erasure: string; readonly redact: (event: { readonly name: string; readonly body: Uint8Array }) => unknown },
): Promise<void> {
  const { rows } = await transaction.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM parley.call_messages WHERE org = $1 AND call_id = $2) AS messages,
       (SELECT count(*)::int FROM parley.call_messages WHERE org = $1 AND call_id = $2 AND sources IS NOT NULL) AS document_hits,
       (SELECT count(*)::int FROM parley.call_tool_calls WHERE org = $1 AND call_id = $2) AS tool_calls,
       (SELECT count(*)::int FROM parley.call_analyses WHERE org = $1 AND call_id = $2) AS analyses,
       (SELECT count(*)::int FROM parley.calls WHERE org = $1 AND id = $2 AND recording_key IS NOT NULL) AS recordings`,
    [org, id],
  );
  const events = await transaction.query<{ name: string; body: Buffer }>(
    'SELECT e.name, b.body FROM parley.events e JOIN parley.event_bodies b ON b.id = e.id WHERE e.org = $1 AND e.call_id = $2',
    [org, id],
  );
  const attempts = await transaction.query(
    // The id of a delivery begins as that of its event: by it, the index finds them.
    `UPDATE parley.delivery_attempts a SET message = '' FROM parley.deliveries d JOIN parley.events e ON e.id = d.event_id
     WHERE a.delivery_id = d.id AND a.org = $1 AND d.org = $1 AND e.org = $1 AND e.call_id = $2 AND a.message <> ''
       AND d.id BETWEEN overlay(e.id::text PLACING '-0000-0000-000000000000' FROM 14)::uuid AND overlay(e.id::text PLACING '-ffff-ffff-ffffffffffff' FROM 14)::uuid`,
    [org, id],
  );
  // A request that is sent again finds that it was made, and makes nothing twice.
  const answers = await transaction.query(
    `UPDATE parley.idempotent_requests SET answer = NULL, claimed_until = 'infinity' WHERE org = $1 AND $2 = ANY (call_ids) AND answer IS NOT NULL`,
    [org, id],
  );
  const results = await transaction.query(
    `UPDATE parley.test_results SET result = NULL, message = NULL WHERE org = $1 AND result IS NOT NULL AND strpos(result::text, $2) > 0`,
    [org, id],
  );
  await addCounts(
    transaction,
    { org, id: erasure },
    {
      ...rows[0],
      calls: 1,
      events: events.rows.filter((event) => redact(event) !== undefined).length,
      delivery_attempts: attempts.rowCount,
      idempotent_answers: answers.rowCount,
      test_results: results.rowCount,
    },
  );
}

async function addCounts(transaction: Transaction, { org, id }: ErasureRef, added: ErasureCounts): Promise<void> {
  const { rows } = await transaction.query<{ counts: ErasureCounts }>(
    'SELECT counts FROM parley.erasures WHERE org = $1 AND id = $2 FOR UPDATE',
    [org, id],
  );
  const counts = { ...rows[0]?.counts };
  for (const [name, count] of Object.entries(added)) counts[name] = (counts[name] ?? 0) + count;
  await transaction.query('UPDATE parley.erasures SET counts = $3 WHERE org = $1 AND id = $2', [org, id, JSON.stringify(counts)]);
}

function toErasure({ phone: _phone, metadataKey: _key, metadataValue: _value, ...erasure }: Row): Erasure {
  return erasure;
}
