/**
 * Lists of the tools of MCP servers. The operator writes which server to ask, a worker asks it, and the operator is notified. Any of them
 * may die at any moment: a row whose lease runs out is due again.
 */
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import type { Listening } from './channel-listener.ts';
import type { Database, Transaction } from './database.ts';
import { listenForChanges, type ObjectChanges } from './object-changes.ts';

const CHANNEL = 'parley_tool_lists';
const FAILURE_CHARACTERS = 1000;

export interface ToolListRef {
  readonly org: string;
  readonly toolUid: string;
}

/** `T` is a tool in the server's list, `R` the request to the server; both are kept as they are. */
export interface ToolListRecord<T = unknown> {
  readonly toolName: string;
  readonly url: string;
  readonly requestDigest: string;
  readonly latest: readonly T[] | null;
  readonly latestAt: Date | null;
  readonly accepted: readonly T[] | null;
  /** The reason why the last attempt failed. */
  readonly failure: string | null;
}

export interface ToolListRequest {
  readonly toolName: string;
  readonly request: object;
  readonly requestDigest: string;
}

export interface DueToolList<R = unknown> extends ToolListRef {
  readonly toolName: string;
  readonly request: R;
  readonly requestDigest: string;
  /** Failed attempts since the last success. */
  readonly failures: number;
  /** True if agents have an older list meanwhile. */
  readonly known: boolean;
}

export class ToolLists {
  readonly #database: Database;
  readonly #options: { readonly clock: Clock; readonly logger?: Logger | undefined };

  constructor(database: Database, options: { readonly clock: Clock; readonly logger?: Logger | undefined }) {
    this.#database = database;
    this.#options = options;
  }

  async get<T>({ org, toolUid }: ToolListRef): Promise<ToolListRecord<T> | undefined> {
    const { rows } = await this.#database.queryAs<ToolListRecord<T> & Record<string, unknown>>(
      org,
      `SELECT tool_name AS "toolName", request->>'url' AS url, request_digest AS "requestDigest", latest, latest_at AS "latestAt", accepted, failure
       FROM parley.tool_lists WHERE org = $1 AND tool_uid = $2`,
      [org, toolUid],
    );
    return rows[0];
  }

  /** Makes the server's list due now. @param acceptNext accepts the next list at once, because it is another server than before */
  async request(
    { org, toolUid }: ToolListRef,
    { toolName, request, requestDigest }: ToolListRequest,
    { acceptNext }: { readonly acceptNext: boolean },
  ): Promise<void> {
    await this.#database.queryAs(
      org,
      `INSERT INTO parley.tool_lists (org, tool_uid, tool_name, request, request_digest) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (org, tool_uid) DO UPDATE SET tool_name = excluded.tool_name, request = excluded.request, request_digest = excluded.request_digest,
         accept_next = tool_lists.accept_next OR $6, due_at = now(), failure = NULL, failures = 0`,
      [org, toolUid, toolName, JSON.stringify(request), requestDigest, acceptNext],
    );
  }

  /** Lets agents use this list from now on. */
  async accept({ org, toolUid }: ToolListRef, tools: readonly unknown[]): Promise<void> {
    await this.#database.queryAs(org, 'UPDATE parley.tool_lists SET accepted = $3, accept_next = false WHERE org = $1 AND tool_uid = $2', [
      org,
      toolUid,
      JSON.stringify(tools),
    ]);
  }

  async remove({ org, toolUid }: ToolListRef): Promise<void> {
    await this.#database.queryAs(org, 'DELETE FROM parley.tool_lists WHERE org = $1 AND tool_uid = $2', [org, toolUid]);
  }

  /** Returns the lists of all organisations. */
  async all(): Promise<readonly ToolListRef[]> {
    const { rows } = await this.#database.asDirectory((transaction) =>
      transaction.query<{ org: string; toolUid: string }>('SELECT org, tool_uid AS "toolUid" FROM parley.tool_lists'),
    );
    return rows;
  }

  /** Returns due lists of all organisations, each for one caller until `forMs` are over. */
  async claim<R>({ limit, forMs }: { readonly limit: number; readonly forMs: number }): Promise<readonly DueToolList<R>[]> {
    const { rows: due } = await this.#database.asDirectory((transaction) =>
      transaction.query<{ org: string; toolUid: string }>(
        'SELECT org, tool_uid AS "toolUid" FROM parley.tool_lists WHERE due_at <= now() ORDER BY due_at LIMIT $1',
        [limit],
      ),
    );
    const claimed: DueToolList<R>[] = [];
    for (const { org, toolUid } of due) {
      const { rows } = await this.#database.queryAs<DueToolList<R> & Record<string, unknown>>(
        org,
        `UPDATE parley.tool_lists SET due_at = now() + $3 * interval '1 millisecond' WHERE org = $1 AND tool_uid = $2 AND due_at <= now()
         RETURNING org, tool_uid AS "toolUid", tool_name AS "toolName", request, request_digest AS "requestDigest", failures,
           accepted IS NOT NULL AS known`,
        [org, toolUid, forMs],
      );
      claimed.push(...rows);
    }
    return claimed;
  }

  /** Stores the server's list. Does nothing where the request has changed meanwhile. */
  async listed(
    { org, toolUid, requestDigest }: DueToolList,
    tools: readonly unknown[],
    { againInMs }: { readonly againInMs: number },
  ): Promise<void> {
    await this.#database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ toolName: string; changed: boolean }>(
        `WITH before AS (SELECT * FROM parley.tool_lists WHERE org = $1 AND tool_uid = $2 AND request_digest = $3 FOR UPDATE)
         UPDATE parley.tool_lists t SET
           latest = $4, latest_at = CASE WHEN t.latest = $4::jsonb THEN t.latest_at ELSE now() END,
           accepted = CASE WHEN t.accepted IS NULL OR t.accept_next THEN $4 ELSE t.accepted END,
           accept_next = false, failure = NULL, failures = 0, due_at = now() + $5 * interval '1 millisecond'
         FROM before b WHERE t.org = b.org AND t.tool_uid = b.tool_uid
         RETURNING t.tool_name AS "toolName",
           (b.latest IS DISTINCT FROM t.latest OR b.accepted IS DISTINCT FROM t.accepted OR b.failure IS NOT NULL) AS changed`,
        [org, toolUid, requestDigest, JSON.stringify(tools), againInMs],
      );
      if (rows[0]?.changed === true) await notify(transaction, org, rows[0].toolName);
    });
  }

  /** Records that the server could not be asked. */
  async failed(
    { org, toolUid, requestDigest }: DueToolList,
    failure: string,
    { againInMs }: { readonly againInMs: number },
  ): Promise<void> {
    await this.#database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ toolName: string; changed: boolean }>(
        `WITH before AS (SELECT * FROM parley.tool_lists WHERE org = $1 AND tool_uid = $2 AND request_digest = $3 FOR UPDATE)
         UPDATE parley.tool_lists t SET failure = $4, failures = t.failures + 1, due_at = now() + $5 * interval '1 millisecond'
         FROM before b WHERE t.org = b.org AND t.tool_uid = b.tool_uid
         RETURNING t.tool_name AS "toolName", b.failure IS DISTINCT FROM t.failure AS changed`,
        [org, toolUid, requestDigest, Array.from(failure).slice(0, FAILURE_CHARACTERS).join(''), againInMs],
      );
      if (rows[0]?.changed === true) await notify(transaction, org, rows[0].toolName);
    });
  }

  /** Reports tools with a new list or failure until it is stopped. Uses a connection of its own. */
  listen(changes: ObjectChanges): Listening {
    return listenForChanges({ database: this.#database, channel: CHANNEL, what: 'lists of tools', ...this.#options, ...changes });
  }
}

async function notify(transaction: Transaction, org: string, toolName: string): Promise<void> {
  await transaction.query('SELECT pg_notify($1, $2)', [CHANNEL, `${org}/${toolName}`]);
}
