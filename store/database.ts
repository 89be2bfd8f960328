/**
 * The pool of connections and the ways to use it: as one organisation, as the directory of all of them, and as the sessions' own role.
 * Statements are sent without waiting for the answers to those before them: a BEGIN goes with the first statement of its transaction, and
 * the COMMIT with the one that is marked as its last.
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
   * Runs the works at the same time, and waits for all. In a transaction on one snapshot each but the first has a connection of its own,
   * which sees the same snapshot. They share this connection where none is free, in other transactions, and with `pipelined`.
   * @returns their results in order
   * @throws the first error
   */
  inParallel<T>(
    works: readonly ((transaction: Transaction) => Promise<T>)[],
    options?: { readonly pipelined?: boolean },
  ): Promise<readonly T[]>;
}

export interface StatementOptions {
  /** Reads and plans the statement once for each connection, instead of each time: for frequent statements whose text is one of a few. */
  readonly prepared?: boolean;
  /**
   * Marks the last statement of its transaction: the COMMIT is sent right behind it and no answer is awaited in between. Work that runs
   * after it in the same transaction can't take it back.
   */
  readonly last?: boolean;
}

export interface TransactionOptions {
  /** Runs a read-only transaction on one snapshot. */
  readonly snapshot?: boolean;
  /** Switches off compilation (JIT) for statements that take milliseconds: it takes longer than any of them. */
  readonly quick?: boolean;
  /**
   * Runs prepared statements by the one plan that fits all values, and plans no more: for look-ups by whole keys, whose planning takes
   * longer than they do. Postgres by itself would compare costs that it can't know, and plan each time.
   */
  readonly samePlans?: boolean;
}

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /** Most connections; 10 by default. */
  readonly poolSize?: number | undefined;
  /** The role of every session; `parley_app` by default. */
  readonly role?: 'parley_app' | 'parley_dispatcher' | undefined;
  /** The name that `pg_stat_activity` shows. */
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

/** @throws StoreError `invalid` for a text that cannot be the name of a namespace */
function requireOrganizationName(name: string): void {
  if (isOrganizationName(name)) return;
  const shown = JSON.stringify(cutText(name, 80));
  throw new StoreError(
    'invalid',
    `${shown} cannot be an organisation: use 1 to 63 lower-case letters, digits and hyphens, as for a namespace`,
  );
}

/** Delays between two attempts at a statement. */
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

  /** Runs one statement like {@link asOrganization}. */
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

  /**
   * Runs `work` in a transaction with no organisation set: `parley_app` sees no row of any tenant table then. `work` may run more than
   * once.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction('BEGIN', work);
  }

  /** Runs one statement with no organisation set: as `parley_app` it sees no row of any tenant table. */
  query<R extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    { prepared = false }: StatementOptions = {},
  ): Promise<readonly R[]> {
    return this.#statement<R>(sql, values, { prepared }).then(({ rows }) => rows);
  }

  /** Runs statements like {@link query}, and returns the count of written rows as well. */
  readonly statements: Pick<Transaction, 'query'> = { query: (sql, values, options) => this.#statement(sql, values, options) };

  /** Returns an unopened connection of its own, outside the pool: for LISTEN, which lasts. */
  dedicatedClient(): Client {
    return new Client(this.#connection);
  }

  /** Waits for running statements and closes the connections. */
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
            // After a failed statement, a COMMIT is a ROLLBACK.
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
                // Nothing is awaited in between: two transactions that hold one connection each must not wait for each other's.
                if (!this.#hasFreeConnection) return parallel(transaction);
                return this.#transaction(begin, parallel, kind, rows[0]?.id);
              }),
            );
          },
        };
        const result = await work(transaction);
        await begun;
        committed ??= heardLater(client.query('COMMIT'));
        // A read has nothing that could be lost, and the connection's next user comes behind the COMMIT.
        if (kind === 'write') await committed;
        for (const channel of channels) this.#hints.notify(channel);
        return result;
      } catch (failure) {
        // After a failed BEGIN, its statements fail for that reason alone.
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

  /** Notifies without waiting for the disk: listeners make up for a hint that a crash loses. */
  async #notify(channel: string): Promise<void> {
    await this.#once((client) => client.query(`BEGIN; SET LOCAL synchronous_commit = off; NOTIFY ${escapeIdentifier(channel)}; COMMIT`));
  }

  /**
   * Notifies a channel with a payload, without waiting for the disk. Who doesn't listen at this moment misses it.
   * @throws StoreError
   */
  async publish(channel: string, payload: string): Promise<void> {
    const notify = `NOTIFY ${escapeIdentifier(channel)}, ${escapeLiteral(payload)}`;
    await this.#once((client) => client.query(`BEGIN; SET LOCAL synchronous_commit = off; ${notify}; COMMIT`)).catch((error: unknown) => {
      throw toStoreError(error);
    });
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

/** Waits for all works, so that none is left behind on a connection whose transaction is over. @throws the first error */
async function settled<T>(works: readonly Promise<T>[]): Promise<readonly T[]> {
  try {
    return await Promise.all(works);
  } finally {
    await Promise.allSettled(works);
  }
}

/** Keeps a rejection from counting as unhandled while something else is awaited, which may fail first. */
function heardLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

const statementNames = new Map<string, string>();

/** Derives the name from the text, so that each text always has the same name, and no two share one. */
function statementName(sql: string): string {
  const name = statementNames.get(sql) ?? `parley_${statementNames.size}`;
  statementNames.set(sql, name);
  return name;
}

/** The connection broke in the middle of a transaction. `first` is the error that began it; the client can't be used any more. */
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

/** After an ERROR, which is an answer, the session goes on; after a FATAL, or no answer at all, it does not. */
function leavesConnectionUsable(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof DatabaseError && error.severity === 'ERROR');
}

/**
 * The dispatcher's queries are look-ups by whole keys in tables whose statistics are always stale: its plans use indexes in their order,
 * and are made once. Otherwise a plan made while a table was empty would read and sort all of it, and do so for good.
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
