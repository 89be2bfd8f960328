/** Connects commands to Postgres, and explains failures. */
import { loadConfig } from '../platform/config/config.ts';
import { maskUrl } from '../platform/masking.ts';
import { openStore, StoreError, type Store } from '../store/index.ts';
import { UserError } from '../platform/user-error.ts';

/** @throws UserError when DATABASE_URL is not set */
export function databaseUrl(): string {
  const url = loadConfig(process.env).DATABASE_URL;
  if (url !== undefined) return url;
  throw new UserError('DATABASE_URL is not set', {
    cure: 'with the local stack running: eval "$(parley env)"; elsewhere: export DATABASE_URL=postgres://user:password@host:5432/database',
  });
}

/** Opens the store for one command and closes it behind it. Failures come as a {@link UserError} with a cure. */
export async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const url = databaseUrl();
  return explainStore(url, async () => {
    const store = openStore({ databaseUrl: url, poolSize: 2, applicationName: 'parley cli' });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  });
}

/** Turns what a person can mend into a {@link UserError}; a defect stays one. */
export async function explainStore<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind === 'internal') throw error;
    const cure = cureForStoreError(error, maskUrl(url));
    throw new UserError(error.message, cure === undefined ? { cause: error } : { cure, cause: error });
  }
}

function cureForStoreError(error: StoreError, shownUrl: string): string | undefined {
  switch (error.kind) {
    case 'unavailable':
      return `is Postgres running, and is DATABASE_URL right? It says ${shownUrl}. The local stack starts one: parley dev`;
    case 'schema':
      return 'parley migrate';
    case 'refused':
      return `check DATABASE_URL (${shownUrl}) and what its user may do; docs/adr/0003-row-level-security.md lists the grants`;
    case 'not_found':
    case 'conflict':
    case 'invalid':
    case 'internal':
      return undefined;
    default:
      return error.kind satisfies never;
  }
}
