/** Describes a database for a backup, and prepares one for a restore. */
import { StoreError } from './error.ts';
import { ensureRoles } from './roles.ts';
import { withClient } from './with-client.ts';

const APPLICATION_NAME = 'parley backup';

export interface DatabaseFacts {
  /** The major version, e.g. 18. */
  readonly serverVersion: number;
  /** The role that owns the tables; absent where there is no schema. */
  readonly owner: string | undefined;
  readonly user: string;
  /** True if row-level security hides nothing from the session's user. */
  readonly seesAllRows: boolean;
  /** Names of the applied migrations, in order. */
  readonly migrations: readonly string[];
  readonly organizations: number;
  /** Sorted application names of the roles of an installation that are connected now. */
  readonly rolesConnected: readonly string[];
}

/** @throws StoreError */
export async function describeDatabase({ databaseUrl }: { readonly databaseUrl: string }): Promise<DatabaseFacts> {
  return withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    const { rows } = await client.query<Omit<DatabaseFacts, 'migrations' | 'organizations'> & { readonly there: boolean }>(`
      SELECT current_setting('server_version_num')::int / 10000 AS "serverVersion", current_user AS user,
        (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS "seesAllRows",
        (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass('parley.schema_migrations')) AS owner,
        to_regclass('parley.organizations') IS NOT NULL AS there,
        ARRAY(SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = current_database()
          AND application_name ~ '^parley[ -](operator|api|worker|dispatcher|voice|voice job)$' ORDER BY 1) AS "rolesConnected"`);
    const [facts] = rows;
    if (facts === undefined) throw new StoreError('internal', 'Postgres says nothing of itself');
    const { there, owner, ...rest } = facts;
    if (!there) return { ...rest, owner: owner ?? undefined, migrations: [], organizations: 0 };
    const migrations = await client.query<{ name: string }>('SELECT name FROM parley.schema_migrations ORDER BY version');
    // Row-level security hides organisations from the owner, too, but not from this role.
    await client.query('BEGIN READ ONLY');
    await client.query('SET LOCAL ROLE parley_directory');
    const organizations = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM parley.organizations');
    await client.query('ROLLBACK');
    return {
      ...rest,
      owner: owner ?? undefined,
      migrations: migrations.rows.map(({ name }) => name),
      organizations: organizations.rows[0]?.n ?? 0,
    };
  });
}

/**
 * Creates the roles and the extension, which a dump of the schema needs and does not contain, and the schema itself, whose content it drops
 * at once.
 *
 * @param options.owner the role that owns the tables in the dump
 * @throws StoreError `refused` when the session's user can't give tables to that owner
 */
export async function prepareRestore({ databaseUrl, owner }: { readonly databaseUrl: string; readonly owner: string }): Promise<void> {
  await withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    const { rows } = await client.query<{ may: boolean | null; user: string }>(
      "SELECT (SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1) AS may, current_user AS user",
      [owner],
    );
    if (rows[0]?.may !== true)
      throw new StoreError(
        'refused',
        `the backup's tables belong to the user "${owner}", and ${rows[0]?.may === null ? 'this server has none of that name' : `"${rows[0]?.user ?? ''}" is not a member of it`}: let DATABASE_URL name a user of that name, or let a superuser run \`CREATE ROLE "${owner}"; GRANT "${owner}" TO "${rows[0]?.user ?? ''}"\``,
      );
    await ensureRoles(client);
    await client.query('DROP SCHEMA IF EXISTS parley CASCADE');
    await client.query('CREATE EXTENSION IF NOT EXISTS vector');
    await client.query(`CREATE SCHEMA parley AUTHORIZATION "${owner.replaceAll('"', '""')}"`);
    // Only a role that may create in its schema can become a function's owner: finishRestore revokes it.
    await client.query('GRANT CREATE ON SCHEMA parley TO parley_directory');
  });
}

/**
 * Revokes the grants of {@link prepareRestore} and deletes rows that only held for another API server, whose resource versions are other
 * numbers. A backup of one organisation lacks the installation's signing secret, so the database gets one of its own.
 */
export async function finishRestore({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  await withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    await client.query('REVOKE CREATE ON SCHEMA parley FROM parley_directory');
    await client.query('TRUNCATE parley.webhook_watermarks');
    await client.query('ALTER TABLE parley.signing_secret NO FORCE ROW LEVEL SECURITY');
    await client.query(`INSERT INTO parley.signing_secret (secret)
      VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))) ON CONFLICT DO NOTHING`);
    await client.query('ALTER TABLE parley.signing_secret FORCE ROW LEVEL SECURITY');
    await client.query('ANALYZE');
  });
}
