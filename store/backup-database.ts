/** What a backup of the database has to know, and what a database has to be before one is brought back. */
import { StoreError } from './error.ts';
import { ensureRoles } from './roles.ts';
import { withClient } from './with-client.ts';

const APPLICATION_NAME = 'parley backup';

export interface DatabaseFacts {
  /** 18 */
  readonly serverVersion: number;
  /** Who has the tables; absent where there is no schema. */
  readonly owner: string | undefined;
  /** The session's user. */
  readonly user: string;
  /** Row-level security hides nothing from the session's user. */
  readonly seesAllRows: boolean;
  /** Names, in order. */
  readonly migrations: readonly string[];
  readonly organizations: number;
  /** Names of applications of Parley that are connected now, roles of an installation, sorted. */
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
    // Not as the owner: from it row-level security hides them, too.
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
 * Creates what a dump of the schema needs and does not contain (roles, the extension) and the schema itself, dropping its content at once.
 *
 * @param options.owner who has the tables in the dump
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

/** Takes back what {@link prepareRestore} granted, and forgets what held for another API server: whose versions of resources are other numbers. */
export async function finishRestore({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  await withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    await client.query('REVOKE CREATE ON SCHEMA parley FROM parley_directory');
    await client.query('TRUNCATE parley.webhook_watermarks');
    await client.query('ANALYZE');
  });
}

/** Of resources that an API server has again: by kind and name, the uid that each has now. */
export type RestoredUids = Readonly<Record<'Agent' | 'AgentTest', ReadonlyMap<string, string>>>;

/** Agents of $1 that serve and are called $2, with the uids that they have now ($3). */
const MOVED = `WITH moved AS (
  SELECT s.agent_uid AS former, now.uid FROM parley.agent_serving s JOIN unnest($2::text[], $3::text[]) AS now (name, uid) ON now.name = s.agent_name
  WHERE s.org = $1 AND s.retired_at IS NULL AND s.agent_uid <> now.uid)`;

/** What belongs to an agent by its uid; last, what tells which agents are moved. */
const OF_AGENTS = ['agent_releases', 'test_runs', 'agent_spending', 'calls', 'agent_serving'];

/** Hands what agents served, tested and spent, which is kept by uid, over to the restored ones. No role may run meanwhile. Idempotent. */
export async function handOverToRestored(
  { databaseUrl, org }: { readonly databaseUrl: string; readonly org: string },
  { Agent: agents, AgentTest: tests }: RestoredUids,
): Promise<void> {
  await withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    const values = [org, [...agents.keys()], [...agents.values()]];
    await client.query('BEGIN');
    // What row-level security lets the owner of the tables write.
    await client.query("SELECT set_config('parley.leaving', $1, true)", [org]);
    // A revision is never changed.
    await client.query(
      `${MOVED} INSERT INTO parley.agent_revisions (org, agent_uid, revision, agent_name, config, created_at)
       SELECT r.org, m.uid, r.revision, r.agent_name, r.config, r.created_at
       FROM parley.agent_revisions r JOIN moved m ON m.former = r.agent_uid WHERE r.org = $1`,
      values,
    );
    for (const table of OF_AGENTS)
      await client.query(
        `${MOVED} UPDATE parley.${table} t SET agent_uid = m.uid FROM moved m WHERE t.org = $1 AND t.agent_uid = m.former`,
        values,
      );
    await client.query(
      `DELETE FROM parley.agent_revisions r WHERE org = $1 AND agent_name = ANY ($2::text[]) AND agent_uid <> ALL ($3::text[])
       AND NOT EXISTS (SELECT FROM parley.agent_serving s WHERE s.org = r.org AND s.agent_uid = r.agent_uid)`,
      values,
    );
    await client.query(
      `UPDATE parley.test_results t SET test_uid = now.uid FROM unnest($2::text[], $3::text[]) AS now (name, uid)
       WHERE t.org = $1 AND t.test_name = now.name AND t.test_uid <> now.uid`,
      [org, [...tests.keys()], [...tests.values()]],
    );
    await client.query('COMMIT');
  });
}
