/** The tables as those go through them who take all of them along, or all that one organisation has in them. */
import { escapeIdentifier, type Client } from 'pg';

export interface Table {
  readonly name: string;
  /** For SQL. */
  readonly from: string;
  /** Without those that Postgres computes. */
  readonly columns: readonly string[];
  /** The column with the name of the organisation; absent where rows are of none. */
  readonly orgColumn: 'org' | 'name' | undefined;
  /** The database role whose policy shows and changes the rows of one organisation; absent where nobody's does. */
  readonly role: 'owner' | 'parley_app' | undefined;
  /** Whether the session's user owns it. */
  readonly isOwn: boolean;
  /** Whether its rows survive a crash of Postgres, and so belong into a backup. */
  readonly isLogged: boolean;
  /** The column that Postgres numbers. */
  readonly numbered: string | undefined;
  /** Names of the tables that its rows refer to. */
  readonly references: readonly string[];
}

/** Partitions by their table alone. In the order of {@link inOrderOfReferences}. */
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
    // Tables of vectors are made as they are needed, by their length, and have the policy of the roles alone.
    const role = mayLeave ? 'owner' : isVectorTable(row.name) ? 'parley_app' : undefined;
    const more = { numbered: row.numbered ?? undefined, from: `parley.${escapeIdentifier(row.name)}`, orgColumn, role } as const;
    return Object.assign(row, more);
  });
  return inOrderOfReferences(tables);
}

export const isVectorTable = (name: string): boolean => /^vector_(dense|graph)_/.test(name);

/** What others refer to comes before them; otherwise as they come. */
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
