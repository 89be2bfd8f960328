/**
 * The pool of connections and the ways to use it: as one organisation, as the directory of all of them, and as the role that the sessions have.
 * Statements are sent without waiting for the answers to those before them: a BEGIN goes with the first statement of its transaction, and the
 * COMMIT with the one that is marked as its last.
 */

import {
  Client,
  type ClientBase,
  type ClientConfig,
  DatabaseError,
  escapeIdentifier,
  escapeLiteral,
  Pool,
  type PoolClient,
  type QueryResultRow,
} from 'pg';

import { backoffDelay } from '../platform/backoff.ts';
import { awakeClock, systemClock, type Clock } from '../platform/clock.ts';
import { cutText } from '../platform/cut-text.ts';
import { toError } from '../platform/caught.ts';
import type { Logger } from '../platform/logging.ts';
import { isOrganizationName } from '../platform/organization-name.ts';
import { retry } from '../platform/retry.ts';
import { StoreError, toStoreError } from './error.ts';
import { Hints } from './hints.ts';
import { inspectRole, requireHarmlessRole, type DatabaseRole } from './roles.ts';

/** Runs statements inside one transaction. Values travel only as parameters. */
export interface Transaction {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the rows are what the statement says they are
  query<R extends QueryResultRow>(
    sql: string,
    values?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<{ readonly rows: readonly R[]; readonly rowCount: number }>;
  /**
   * Notifies a channel once the transaction is committed, as a hint: notifications that come while one is being sent go out as one more.
   * A NOTIFY within the transaction would make all that do so commit one after the other, through the log on disk.
   */
  notifyAfterCommit(channel: string): void;
  /**
   * Runs these at the same time, and waits for all. In a transaction on one snapshot each but the first has a connection of its own, which sees
   * the same snapshot; where none is free, in other transactions, and with `pipelined`, they share this one.
   * @returns what they do, in their order
   * @throws what one of them throws first
   */
  inParallel<T>(
    works: readonly ((transaction: Transaction) => Promise<T>)[],
    options?: { readonly pipelined?: boolean },
  ): Promise<readonly T[]>;
}

export interface StatementOptions {
  /**
   * Read and planned once for each connection, instead of each time: for statements that are run all the time, and whose text
   * is one of a few.
   */
  readonly prepared?: boolean;
  /**
   * The last one of its transaction: the COMMIT is sent right behind it and no answer is waited for in between. What runs after it in the same
   * piece of work can't take it back.
   */
  readonly last?: boolean;
}

export interface TransactionOptions {
  /** A read-only transaction on one snapshot. */
  readonly snapshot?: boolean;
  /** Statements that take milliseconds are not compiled, which takes longer than any of them. */
  readonly quick?: boolean;
  /**
   * Prepared statements are run by the one plan that fits all values, and planned no more: for look-ups by whole keys, whose planning
   * takes longer than they do. Postgres by itself would compare costs that it can't know, and plan each time.
   */
  readonly samePlans?: boolean;
}

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /** Connections at most; 10 by default. */
  readonly poolSize?: number | undefined;
  /** The role of every session; `parley_app` by default. */
  readonly role?: 'parley_app' | 'parley_dispatcher' | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string | undefined;
  /** Longest statement, in milliseconds; 10,000 by default. */
  readonly statementTimeoutMs?: number | undefined;
  /** Longest wait for a free or new connection, in milliseconds; 5,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long a failed connection is retried before the call fails, in milliseconds; 2,000 by default. */
  readonly retryForMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
}

export interface PoolCounts {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/** @throws StoreError `invalid` for what cannot be the name of a namespace. */
function requireOrganizationName(name: string): void {
  if (isOrganizationName(name)) return;
  const shown = JSON.stringify(cutText(name, 80));
  throw new StoreError(
    'invalid',
    `${shown} cannot be an organisation: use 1 to 63 lower-case letters, digits and hyphens, as for a namespace`,
  );
}

/** Between two attempts at a statement. */
const BACKOFF = { baseMs: 50, maxMs: 1_000 };

export class Database {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #retryForMs: number;
  readonly #connection: ClientConfig;
  readonly #hints = new Hints((channel) => this.#notify(channel));

  constructor(options: DatabaseOptions) {
    const role = options.role ?? 'parley_app';
    const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
    this.#clock = options.clock ?? systemClock;
    this.#retryForMs = options.retryForMs ?? 2_000;
    this.#connection = {
      ...asRole(options.databaseUrl, role),
      application_name: options.applicationName ?? 'parley',
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      keepAlive: true,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 15_000,
      // The server's limit comes first; this one is for a server that no longer answers at all.
      query_timeout: statementTimeoutMs + 2_000,
    };
    this.#pool = new Pool({
      ...this.#connection,
      pipeline: true,
      max: options.poolSize ?? 10,
      idleTimeoutMillis: 30_000,
      onConnect: checkRole(role),
    });
    // An idle connection that breaks is dropped by the pool; without a listener it would end the process.
    this.#pool.on('error', (err) => options.logger?.warn({ err }, 'an idle connection to Postgres broke'));
  }

  get #hasFreeConnection(): boolean {
    return this.#pool.waitingCount === 0 && (this.#pool.idleCount > 0 || this.#pool.totalCount < this.#pool.options.max);
  }

  get counts(): PoolCounts {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /**
   * Runs `work` in a transaction that sees and writes the rows of `org` and no others.
   * `work` may run more than once (a lost connection), so that it has to be idempotent.
   */
  asOrganization<T>(
    org: string,
    work: (transaction: Transaction) => Promise<T>,
    { snapshot = false, quick = false, samePlans = false }: TransactionOptions = {},
  ): Promise<T> {
    requireOrganizationName(org);
    const begin = snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN';
    const settings = [
      `SET LOCAL parley.org = ${escapeLiteral(org)}`,
      ...(quick ? ['SET LOCAL jit = off'] : []),
      ...(samePlans ? ['SET LOCAL plan_cache_mode = force_generic_plan'] : []),
    ];
    return this.#transaction([begin, ...settings].join('; '), work, snapshot ? 'snapshot' : 'write');
  }

  /** One statement, as in {@link asOrganization}. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in Transaction
  queryAs<R extends QueryResultRow>(
    org: string,
    sql: string,
    values: readonly unknown[] = [],
    options: Omit<StatementOptions, 'last'> & TransactionOptions = {},
  ): Promise<{ readonly rows: readonly R[]; readonly rowCount: number }> {
    return this.asOrganization(org, (transaction) => transaction.query<R>(sql, values, { ...options, last: true }), options);
  }

  /** Runs `work` in a transaction that sees the names of all organisations and none of their rows. */
  asDirectory<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction('BEGIN READ ONLY; SET LOCAL ROLE parley_directory', work, 'read');
  }

  /** Runs `work` in a transaction with no organisation set: `parley_app` sees no row of any tenant table then. `work` may run more than once. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction('BEGIN', work);
  }

  /** One statement with no organisation set: as `parley_app` it sees no row of any tenant table. */
  query<R extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    { prepared = false }: StatementOptions = {},
  ): Promise<readonly R[]> {
    return this.#statement<R>(sql, values, { prepared }).then(({ rows }) => rows);
  }

  /** The same, with the count of rows that were written. */
  readonly statements: Pick<Transaction, 'query'> = { query: (sql, values, options) => this.#statement(sql, values, options) };

  /** A connection of its own, outside the pool and not yet opened: for LISTEN, which lasts. */
  dedicatedClient(): Client {
    return new Client(this.#connection);
  }

  /** Waits for what is running and closes the connections. */
  async close(): Promise<void> {
    await this.#hints.drained();
    if (!this.#pool.ending) await this.#pool.end();
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in Transaction
  #statement<R extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    options: StatementOptions = {},
  ): Promise<{ readonly rows: readonly R[]; readonly rowCount: number }> {
    return this.#withClient((client) => runStatement<R>(client, sql, values, options));
  }

  #transaction<T>(
    begin: string,
    work: (transaction: Transaction) => Promise<T>,
    kind: 'write' | 'read' | 'snapshot' = 'write',
    exportedSnapshot?: string,
  ): Promise<T> {
    return this.#withClient(async (client) => {
      const sharing = exportedSnapshot === undefined ? '' : `; SET TRANSACTION SNAPSHOT ${escapeLiteral(exportedSnapshot)}`;
      const begun = heardLater(client.query(begin + sharing));
      let committed: Promise<unknown> | undefined;
      const channels = new Set<string>();
      try {
        const transaction: Transaction = {
          notifyAfterCommit: (channel) => void channels.add(channel),
          // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the interface
          query: <R extends QueryResultRow>(sql: string, values: readonly unknown[] = [], options: StatementOptions = {}) => {
            const answer = runStatement<R>(client, sql, values, options);
            // After a statement that failed, a COMMIT is a ROLLBACK.
            if (options.last === true) committed = heardLater(client.query('COMMIT'));
            return answer;
          },
          inParallel: (works, { pipelined = false } = {}) => {
            const exported =
              kind === 'snapshot' && works.length > 1 && !pipelined
                ? heardLater(client.query<{ id: string }>('SELECT pg_catalog.pg_export_snapshot() AS id'))
                : undefined;
            return settled(
              works.map(async (parallel, index) => {
                if (exported === undefined || index === 0) return parallel(transaction);
                const { rows } = await exported;
                // Nothing is awaited in between: two that hold one connection each must not wait for each other's.
                if (!this.#hasFreeConnection) return parallel(transaction);
                return this.#transaction(begin, parallel, kind, rows[0]?.id);
              }),
            );
          },
        };
        const result = await work(transaction);
        await begun;
        committed ??= heardLater(client.query('COMMIT'));
        // It ends nothing that could be lost, and whoever gets the connection next comes behind it.
        if (kind === 'write') await committed;
        for (const channel of channels) this.#hints.notify(channel);
        return result;
      } catch (failure) {
        // After a BEGIN that failed, its statements fail for that alone.
        const error = await begun.then(
          () => failure,
          (cause: unknown) => cause,
        );
        // Only a connection that answers the ROLLBACK may go back into the pool.
        await client.query('ROLLBACK').catch((cause: unknown) => {
          throw new ConnectionLostError(error, cause);
        });
        throw error;
      }
    });
  }

  /** Not worth waiting for the disk: listeners make up for a hint that a crash loses. */
  async #notify(channel: string): Promise<void> {
    await this.#once((client) => client.query(`BEGIN; SET LOCAL synchronous_commit = off; NOTIFY ${escapeIdentifier(channel)}; COMMIT`));
  }

  async #withClient<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    const giveUpAt = this.#clock.monotonic() + this.#retryForMs;
    const attempt = (): Promise<T> =>
      this.#once(use).catch((error: unknown) => {
        throw toStoreError(error instanceof ConnectionLostError ? error.first : error);
      });
    const delayMs = (error: unknown, failures: number): number | undefined => {
      if (!(error instanceof StoreError) || !error.retryable || error.sqlState === '57014') return undefined;
      const waitMs = backoffDelay(failures, BACKOFF);
      return this.#clock.monotonic() + waitMs > giveUpAt ? undefined : waitMs;
    };
    // The clock's own timers don't keep a short-lived command alive.
    return retry(attempt, { delayMs, clock: awakeClock });
  }

  async #once<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    const onError = (error: Error): void => void (broken = error);
    // While a client is lent out the pool does not listen, and an unheard 'error' event would end the process.
    client.on('error', onError);
    try {
      return await use(client);
    } catch (error) {
      if (!leavesConnectionUsable(error)) broken ??= toError(error);
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in Transaction
async function runStatement<R extends QueryResultRow>(
  client: ClientBase,
  sql: string,
  values: readonly unknown[],
  { prepared = false }: StatementOptions,
): Promise<{ readonly rows: readonly R[]; readonly rowCount: number }> {
  const answer = await client.query<R>({ text: sql, values: [...values], ...(prepared && { name: statementName(sql) }) });
  return { rows: answer.rows, rowCount: answer.rowCount ?? 0 };
}

/** Waits for all of them, so that none is left behind on a connection whose transaction is over. @throws what was thrown first */
async function settled<T>(works: readonly Promise<T>[]): Promise<readonly T[]> {
  try {
    return await Promise.all(works);
  } finally {
    await Promise.allSettled(works);
  }
}

/** For one that is waited for after another, which may fail first: its rejection must not count as unhandled then. */
function heardLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

const statementNames = new Map<string, string>();

/** The same text always has the same name, and no other one has it. */
function statementName(sql: string): string {
  const name = statementNames.get(sql) ?? `parley_${statementNames.size}`;
  statementNames.set(sql, name);
  return name;
}

/** The connection broke in the middle of a transaction: `first` says how it began, and the client is of no more use. */
class ConnectionLostError extends Error {
  readonly first: unknown;
  constructor(first: unknown, cause: unknown) {
    super('the connection broke inside a transaction', { cause });
    this.first = first;
  }
}

/** The pool waits for this and drops the connection when it throws, although its types speak of a plain callback. */
const checkRole = (role: DatabaseRole) =>
  (async (client: ClientBase) => requireHarmlessRole(await inspectRole(client), role)) as (client: ClientBase) => void;

/** An ERROR is an answer, and the session goes on; after a FATAL, or no answer at all, it does not. */
function leavesConnectionUsable(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof DatabaseError && error.severity === 'ERROR');
}

/**
 * The dispatcher's queries are look-ups by whole keys, of tables whose statistics are always stale: its plans use indexes, in the order that
 * these have, and are made once. One that was made while a table was empty would else read all of it to sort it, and do so for good.
 */
const sessionSettings: Partial<Record<DatabaseRole, string>> = {
  parley_dispatcher:
    ' -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off' +
    ' -c enable_bitmapscan=off -c enable_sort=off',
};

/**
 * Makes the server start every session in `role`, so that RESET ROLE comes back to it and not to the login user.
 * Keeps the `options` of the address, before ours: the last setting counts.
 */
function asRole(databaseUrl: string, role: DatabaseRole): { readonly connectionString: string } {
  if (!URL.canParse(databaseUrl)) {
    throw new StoreError(
      'refused',
      'DATABASE_URL is no address: write postgres://user:password@host:port/database, with odd characters of the password percent-encoded',
    );
  }
  const url = new URL(databaseUrl);
  const given = url.searchParams.get('options');
  url.searchParams.set('options', `${given === null ? '' : `${given} `}-c role=${role} -c timezone=UTC${sessionSettings[role] ?? ''}`);
  return { connectionString: url.href };
}
