/** Lists the tables for code that takes all of them along, or all rows of one organisation. */
import { escapeIdentifier, type Client } from 'pg';

export interface Table {
  readonly name: string;
  /** The quoted name, for SQL. */
  readonly from: string;
  /** Columns without those that Postgres computes. */
  readonly columns: readonly string[];
  /** The column with the name of the organisation; absent where rows belong to none. */
  readonly orgColumn: 'org' | 'name' | undefined;
  /** The database role whose policy shows and changes the rows of one organisation; absent where no role's does. */
  readonly role: 'owner' | 'parley_app' | undefined;
  /** True if the session's user owns the table. */
  readonly isOwn: boolean;
  /** True if its rows survive a crash of Postgres, and so belong into a backup. */
  readonly isLogged: boolean;
  /** The column whose values Postgres numbers. */
  readonly numbered: string | undefined;
  /** Names of the tables that its rows refer to. */
  readonly references: readonly string[];
}

/** Returns the tables in the order of {@link inOrderOfReferences}, without their partitions. */
export async function readTables(client: Client): Promise<readonly Table[]> {
  const { rows } = await client.query<Omit<Table, 'from' | 'orgColumn' | 'role'> & { readonly mayLeave: boolean }>(`
    SELECT c.relname AS name, pg_has_role(c.relowner, 'USAGE') AS "isOwn", c.relpersistence = 'p' AS "isLogged",
      EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'leaving') AS "mayLeave",
      ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        ORDER BY attnum) AS columns,
      (SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attidentity <> '') AS numbered,
      ARRAY(SELECT DISTINCT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
        WHERE k.contype = 'f' AND k.conrelid = c.oid AND k.confrelid <> c.oid) AS references
    FROM pg_class c
    WHERE c.relnamespace = 'parley'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    ORDER BY c.relname`);
  const tables = rows.map(({ mayLeave, ...row }): Table => {
    const orgColumn = row.name === 'organizations' ? 'name' : row.columns.includes('org') ? 'org' : undefined;
    // Tables of vectors are made as they are needed, one per dimension, and have the policy of the roles alone.
    const role = mayLeave ? 'owner' : isVectorTable(row.name) ? 'parley_app' : undefined;
    const more = { numbered: row.numbered ?? undefined, from: `parley.${escapeIdentifier(row.name)}`, orgColumn, role } as const;
    return Object.assign(row, more);
  });
  return inOrderOfReferences(tables);
}

export const isVectorTable = (name: string): boolean => /^vector_(dense|graph)_/.test(name);

/** Sorts tables after those that they refer to, and keeps the order otherwise. */
export function inOrderOfReferences<T extends Pick<Table, 'name' | 'references'>>(tables: readonly T[]): readonly T[] {
  const sorted = new Set<T>();
  const visiting = new Set<T>();
  const visit = (table: T): void => {
    // Two tables that refer to each other have no order.
    if (visiting.has(table)) return;
    visiting.add(table);
    for (const other of tables) if (table.references.includes(other.name)) visit(other);
    sorted.add(table);
  };
  for (const table of tables) visit(table);
  return [...sorted];
}
