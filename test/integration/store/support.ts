import { createHash, randomBytes } from 'node:crypto';

import { Client } from 'pg';
import { onTestFinished } from 'vitest';

import { migrate, type Store, type StoreOptions } from '../../../store/index.ts';
import { database, migratedDatabase, openPatientStore } from '../../support/postgres.ts';

/** Opens a store for one test and closes it behind that. */
export function storeAt(databaseUrl: string, options: Partial<StoreOptions> = {}): Store {
  const store = openPatientStore(databaseUrl, options);
  onTestFinished(() => store.close());
  return store;
}

/** Makes a fresh database with the whole schema, and opens a store on it. */
export async function freshStore(options: Partial<StoreOptions> = {}): Promise<{ readonly url: string; readonly store: Store }> {
  const { url } = await migratedDatabase();
  return { url, store: storeAt(url, options) };
}

/** Opens a plain session, as the user in `url`. */
export async function session(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

/** Makes a login user on the server; `grants` run with its name in place of `$user`. */
export async function loginUser(superuserUrl: string, grants: readonly string[]): Promise<string> {
  const name = `test_${randomBytes(5).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  const admin = await session(superuserUrl);
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' NOSUPERUSER NOBYPASSRLS`);
  for (const grant of grants) await admin.query(grant.replaceAll('$user', name));
  const url = new URL(superuserUrl);
  url.username = name;
  url.password = password;
  return url.href;
}

/** Makes an empty database whose owner is no superuser. @returns `url` as a superuser, `owner` as the one who has it */
export async function ownedDatabase(): Promise<{ readonly url: string; readonly owner: string }> {
  const { url } = await database();
  // The roles may be there already, made by another user: then a superuser has to grant them.
  await migrate({ databaseUrl: (await database()).url });
  const owner = await loginUser(url, [
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO $user`,
    'GRANT parley_app, parley_directory, parley_dispatcher TO $user WITH INHERIT FALSE, SET TRUE',
    'CREATE EXTENSION vector',
  ]);
  return { url, owner };
}

/** Returns a revision as the operator makes them: named after its content. */
export function revisionOf(config: unknown): { readonly revision: string; readonly config: unknown } {
  return { revision: createHash('sha256').update(JSON.stringify(config)).digest('hex'), config };
}

/** Returns what `work` throws; fails the test when it throws nothing. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it was expected to fail');
}
