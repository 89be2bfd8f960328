/** Brings rows of one organisation back from a backup, into a database at work. */
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { escapeIdentifier, type Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

import { continueNumbers, list, type RowsOfTable } from './backup-rows.ts';
import { StoreError } from './error.ts';
import { KNOWLEDGE_CHANNEL } from './knowledge/collections.ts';
import { ownTables } from './leaving-organization.ts';
import { pickRows } from './pick-rows.ts';
import { isVectorTable, type Table } from './tables.ts';
import { withClient } from './with-client.ts';

const APPLICATION_NAME = 'parley restore';

/** The part of an organisation that comes back: all of it, or one call or document by its id. */
export type PartOfBackup =
  | { readonly kind: 'organization' }
  | { readonly kind: 'call'; readonly id: string }
  | { readonly kind: 'document'; readonly id: string };

export interface BringBackOptions {
  /** Address with a user who owns the tables, like that of `parley migrate`. */
  readonly databaseUrl: string;
  readonly org: string;
  readonly part: PartOfBackup;
  /** Tables of the backup, which has the same tables as this database. */
  readonly tables: readonly RowsOfTable[];
  /** Keys of the files that come back with the rows; absent where the caller cares for files. */
  readonly files?: ReadonlySet<string> | undefined;
  /** True to replace the rows of an organisation that is there. */
  readonly replace: boolean;
  /** True to do all of it and roll it back. */
  readonly dryRun: boolean;
  readonly onTable: (name: string) => void;
  /** Called when all rows are written, before anybody else sees them. */
  readonly beforeCommit: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Rows that came back, by table; tables without any are left out. */
export type RowsBroughtBack = Readonly<Record<string, number>>;

/**
 * Brings the rows back in one transaction: all of it or nothing. A document comes back as it was uploaded, to be ingested again.
 * @throws StoreError `conflict` where it is there already, `not_found` where the backup lacks it, `refused` for a user who doesn't own the
 * tables
 */
export async function bringBackRows(options: BringBackOptions): Promise<RowsBroughtBack> {
  const { databaseUrl, org, part, dryRun, beforeCommit } = options;
  return withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    await client.query('BEGIN');
    // The caller's work before the commit may take long.
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const work = new BringBack(client, await ownTables(client, org), options);
    if (part.kind === 'organization') await work.organization();
    else if (part.kind === 'call') await work.call(part.id);
    else await work.document(part.id);
    await beforeCommit();
    await client.query(dryRun ? 'ROLLBACK' : 'COMMIT');
    return work.counts;
  });
}

/** Tables that the operator writes anew, for the cluster and the numbers as they are now. */
const REBUILT = new Set(['webhook_watermarks', 'number_claims', 'phone_routes']);

class BringBack {
  readonly counts: Record<string, number> = {};
  readonly #client: Client;
  readonly #tables: readonly Table[];
  readonly #options: BringBackOptions;

  constructor(client: Client, tables: readonly Table[], options: BringBackOptions) {
    this.#client = client;
    this.#tables = tables;
    this.#options = options;
  }

  async organization(): Promise<void> {
    const { org, replace } = this.#options;
    for (const table of this.#tables.toReversed()) {
      const rows = await this.#run(table, `DELETE FROM ${table.from} WHERE ${table.orgColumn} = $1`, [org]);
      // The other tables get rows with the organisation itself, or from whoever looks for it.
      if (rows > 0 && !replace && table.isLogged && table.name !== 'organizations' && !REBUILT.has(table.name))
        throw new StoreError('conflict', `organisation "${org}" is there, with ${rows} rows of ${table.name}`);
    }
    const kept = this.#tables.filter(({ name, isLogged }) => isLogged && !REBUILT.has(name));
    for (const table of kept.filter(({ name }) => !isVectorTable(name) && name !== 'agent_spending'))
      await this.#bring(table, { [table.orgColumn!]: org });
    if (this.counts['organizations'] === undefined) throw this.#missing(`organisation "${org}"`);
    // The costs of calls are added up again as their usage comes back, but without those of deleted calls, so the saved sums replace them.
    await this.#client.query('DELETE FROM parley.agent_spending WHERE org = $1', [org]);
    await this.#bring(this.#table('agent_spending'), { org });
    await this.#bringVectors();
    await continueNumbers(this.#client, this.#tables);
  }

  async call(id: string): Promise<void> {
    const { org } = this.#options;
    const calls = this.#table('calls');
    if (await this.#has(calls, id)) throw new StoreError('conflict', `call ${id} is there`);
    await this.#requireOrganization();
    await this.#bring(calls, { org, id });
    if (this.counts['calls'] === undefined) throw this.#missing(`call ${id} of "${org}"`);
    for (const table of this.#tables.filter(({ references }) => references.includes('calls')))
      await this.#bring(table, { org, call_id: id });
    // The call's cost was counted when it was held, and is counted again as its usage comes back.
    await this.#client.query(
      `UPDATE parley.agent_spending s SET micros = s.micros - u.micros
       FROM (SELECT coalesce(u.agent, c.talking_agent) AS agent, date_bin('15 minutes', c.created_at, '2000-01-01Z') AS quarter, u.currency, sum(u.cost_micros)::bigint AS micros
         FROM parley.call_usage u JOIN parley.calls c ON c.org = u.org AND c.id = u.call_id
         WHERE c.org = $1 AND c.id = $2 AND c.test IS NULL AND u.cost_micros <> 0 GROUP BY 1, 2, 3) AS u
       WHERE s.org = $1 AND s.agent_name = u.agent AND s.quarter = u.quarter AND s.currency = u.currency`,
      [org, id],
    );
    // Otherwise the call's recording would be deleted again.
    await this.#client.query('DELETE FROM parley.deleted_calls WHERE org = $1 AND call_id = $2', [org, id]);
  }

  async document(id: string): Promise<void> {
    const { org, files } = this.#options;
    const [documents, collections] = [this.#table('documents'), this.#table('collections')];
    await this.#requireNoDocument(documents, id);
    await this.#requireOrganization();
    const staged = await this.#stage(documents, { org, id });
    const { rows } = await this.#client.query<{ readonly collection: string; readonly key: string | null }>(
      `SELECT collection_id AS collection, object_key AS key FROM ${staged} WHERE deleted_at IS NULL`,
    );
    if (rows[0] === undefined) throw this.#missing(`document ${id} of "${org}"`);
    // The ingestion would read the missing file, and fail.
    if (rows[0].key !== null && files?.has(rows[0].key) === false) throw this.#missing(`file of document ${id}`);
    const name = await this.#nameOfCollection(await this.#stage(collections, { org, id: rows[0].collection }));
    const { rows: found } = await this.#client.query<{ readonly id: string }>(
      'SELECT id FROM parley.collections WHERE org = $1 AND name = $2 AND deleted_at IS NULL FOR SHARE',
      [org, name],
    );
    if (found[0] === undefined) throw new StoreError('not_found', `the knowledge base ${org}/${name} of document ${id} is not there`);
    await this.#client.query(
      `UPDATE ${staged} SET collection_id = $1, status = 'processing', stage = 'queued', done = 0, total = NULL, message = '', error_code = NULL,
         page_outcomes = NULL, warnings = '{}', chunk_count = 0, term_total = 0, updated_at = now(), progress_at = created_at`,
      [found[0].id],
    );
    await this.#insert(documents, staged);
    await this.#client.query('SELECT pg_notify($1, $2)', [KNOWLEDGE_CHANNEL, `${org}/${name}`]);
  }

  async #requireNoDocument(documents: Table, id: string): Promise<void> {
    const { rows } = await this.#client.query<{ readonly leaving: boolean }>(
      `SELECT deleted_at IS NOT NULL AS leaving FROM ${documents.from} WHERE org = $1 AND id = $2`,
      [this.#options.org, id],
    );
    if (rows[0] !== undefined) throw new StoreError('conflict', `document ${id} is ${rows[0].leaving ? 'still being deleted' : 'there'}`);
  }

  async #nameOfCollection(staged: string): Promise<string> {
    const { rows } = await this.#client.query<{ readonly name: string }>(`SELECT name FROM ${staged}`);
    if (rows[0] === undefined) throw this.#missing('the knowledge base of the document');
    return rows[0].name;
  }

  async #requireOrganization(): Promise<void> {
    const { org } = this.#options;
    const { rowCount } = await this.#client.query('SELECT FROM parley.organizations WHERE name = $1', [org]);
    if (rowCount === 0) throw new StoreError('not_found', `organisation "${org}" is not there`);
  }

  async #has({ from }: Table, id: string): Promise<boolean> {
    const { rowCount } = await this.#client.query(`SELECT FROM ${from} WHERE org = $1 AND id = $2`, [this.#options.org, id]);
    return (rowCount ?? 0) > 0;
  }

  /** Brings vectors back, and makes the tables for their dimensions that this database lacks. */
  async #bringVectors(): Promise<void> {
    const { org } = this.#options;
    await this.#client.query(
      'SELECT parley.prepare_dense_vectors(dimension) FROM parley.collections WHERE org = $1 AND dimension > 0 GROUP BY dimension',
      [org],
    );
    await this.#client.query(
      `SELECT parley.make_vector_graph(v.collection_id, c.dimension) FROM parley.vector_collections v
       JOIN parley.collections c ON c.org = v.org AND c.id = v.collection_id WHERE v.org = $1 AND v.graph IS NOT NULL`,
      [org],
    );
    const { rows } = await this.#client.query<{ readonly graph: string }>(
      'SELECT graph FROM parley.vector_collections WHERE org = $1 AND graph IS NOT NULL',
      [org],
    );
    const graphs = new Set(rows.map(({ graph }) => graph));
    for (const table of (await ownTables(this.#client, org)).filter(({ name }) => name.startsWith('vector_dense_') || graphs.has(name)))
      await this.#bring(table, { org });
  }

  #table(name: string): Table {
    const found = this.#tables.find((table) => table.name === name);
    if (found === undefined) throw new StoreError('schema', `the table ${name} is missing: run \`parley migrate\``);
    return found;
  }

  async #bring(table: Table, wanted: Readonly<Record<string, string>>): Promise<void> {
    await this.#insert(table, await this.#stage(table, wanted));
  }

  /** Copies the wanted rows of the backup into a table of this session, because row-level security forbids COPY into the table itself. */
  async #stage({ name, from, columns }: Table, wanted: Readonly<Record<string, string>>): Promise<string> {
    const { tables, onTable, signal } = this.#options;
    const staged = `pg_temp.${escapeIdentifier(name)}`;
    await this.#client.query(
      `CREATE TEMPORARY TABLE ${escapeIdentifier(name)} ON COMMIT DROP AS SELECT ${list(columns)} FROM ${from} WITH NO DATA`,
    );
    const saved = tables.find((each) => each.name === name);
    if (saved === undefined) return staged;
    onTable(name);
    const copy = this.#client.query(copyFrom(`COPY ${staged} (${list(saved.columns)}) FROM STDIN`));
    await pipeline(saved.rows(), transformLines(pickRows(saved.columns, wanted)), copy, { signal });
    return staged;
  }

  async #insert(table: Table, staged: string): Promise<void> {
    const columns = list(table.columns);
    if (table.role !== 'owner') await this.#client.query(`GRANT SELECT ON ${staged} TO ${table.role}`);
    const rows = await this.#run(table, `INSERT INTO ${table.from} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${staged}`);
    await this.#client.query(`DROP TABLE ${staged}`);
    if (rows > 0) this.counts[table.name] = rows;
  }

  /** @returns how many rows it affected */
  async #run({ role }: Table, sql: string, values: readonly string[] = []): Promise<number> {
    if (role !== 'owner') await this.#client.query(`SET LOCAL ROLE ${role}`);
    const { rowCount } = await this.#client.query(sql, [...values]);
    if (role !== 'owner') await this.#client.query('RESET ROLE');
    return rowCount ?? 0;
  }

  #missing(what: string): StoreError {
    return new StoreError('not_found', `the backup has no ${what}`);
  }
}

function transformLines(pick: (chunk: Buffer) => Buffer): Transform {
  return new Transform({ transform: (chunk: Buffer, _encoding, done) => done(null, pick(chunk)) });
}
