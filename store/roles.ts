/** The database roles that Parley works as. None of them can log in or bypass row-level security. */
import { type ClientBase, DatabaseError } from 'pg';

import { systemClock } from '../platform/clock.ts';
import { retry } from '../platform/retry.ts';
import { StoreError } from './error.ts';

/**
 * `parley_app`: every tenant query. `parley_directory`: the names of organisations, and the lookup of a key by its public part.
 * `parley_dispatcher`: the events of all organisations and their deliveries, and no other table.
 */
const roles = ['parley_app', 'parley_directory', 'parley_dispatcher'] as const;

export type DatabaseRole = (typeof roles)[number];

export interface RoleFacts {
  readonly name: string;
  readonly superuser: boolean;
  readonly bypassesRowSecurity: boolean;
}

/** Reads the role that the session runs as at this moment. */
export async function inspectRole(client: ClientBase): Promise<RoleFacts> {
  const { rows } = await client.query<{ name: string; superuser: boolean; bypasses: boolean }>(
    'SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses FROM pg_catalog.pg_roles WHERE rolname = current_user',
  );
  const row = rows[0];
  return { name: row?.name ?? '', superuser: row?.superuser ?? true, bypassesRowSecurity: row?.bypasses ?? true };
}

/**
 * Refuses a role that could see every organisation's rows: a proxy may drop start-up options, and a person may change a role.
 *
 * @throws StoreError `refused`
 */
export function requireHarmlessRole(facts: RoleFacts, expected: DatabaseRole): void {
  if (facts.name !== expected) {
    throw new StoreError(
      'refused',
      `the database session runs as "${facts.name}" and not as "${expected}": connect to Postgres itself, or through a proxy that passes start-up options on`,
    );
  }
  if (facts.superuser || facts.bypassesRowSecurity) {
    throw new StoreError(
      'refused',
      `the role "${expected}" is not held by row-level security: run ALTER ROLE ${expected} NOSUPERUSER NOBYPASSRLS as a superuser`,
    );
  }
}

/**
 * Errors that come from a race: roles belong to the whole server, and another database on it may be making or granting the same one right
 * now.
 */
const raced = new Set(['42710', '23505', 'XX000']);

/**
 * Makes missing roles and lets the current user switch to them.
 * They are not part of a numbered migration, because a database restored into another server arrives without them.
 *
 * @throws StoreError `refused` when the current user may not, with the commands that a superuser has to run
 */
export async function ensureRoles(client: ClientBase): Promise<void> {
  for (const role of roles) {
    await again(async () => {
      const { rows } = await client.query<{ superuser: boolean; bypasses: boolean }>(
        'SELECT rolsuper AS superuser, rolbypassrls AS bypasses FROM pg_catalog.pg_roles WHERE rolname = $1',
        [role],
      );
      const found = rows[0];
      if (found !== undefined) {
        requireHarmlessRole({ name: role, superuser: found.superuser, bypassesRowSecurity: found.bypasses }, role);
        return;
      }
      await permitted(
        client.query(`CREATE ROLE ${role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE`),
        `CREATE ROLE ${role} NOLOGIN`,
      );
    });
    await again(async () => {
      const { rows } = await client.query<{ may: boolean }>("SELECT pg_catalog.pg_has_role(current_user, $1, 'SET') AS may", [role]);
      if (rows[0]?.may === true) return;
      await permitted(
        client.query(`GRANT ${role} TO CURRENT_USER WITH INHERIT FALSE, SET TRUE`),
        `GRANT ${role} TO <the user in DATABASE_URL>`,
      );
    });
  }
}

async function permitted(statement: Promise<unknown>, byHand: string): Promise<void> {
  try {
    await statement;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '42501') {
      throw new StoreError('refused', `the database user may not prepare the roles: let a superuser run \`${byHand}\`, then try again`, {
        sqlState: error.code,
      });
    }
    throw error;
  }
}

const again = (step: () => Promise<void>): Promise<void> =>
  retry(step, {
    delayMs: (error, failures) => (failures < 10 && error instanceof DatabaseError && raced.has(error.code ?? '') ? 0 : undefined),
    clock: systemClock,
  });
