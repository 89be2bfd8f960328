import { readFileSync, writeFileSync } from 'node:fs';

import { openStore, type Permission } from '../store/index.ts';

/** The longest that a key can live; an expired one is replaced at the next start. */
const EXPIRATION_DAYS = 365;

/** The user they act for. */
const USER_ID = 'local';

/** What keys are for, with what they may do. */
const PURPOSES = {
  'local stack': ['*'],
  // In the address of a page: it can talk to agents and read their calls, and do nothing else.
  'call page': ['calls:create'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

/**
 * A key of the organisation for the local stack: the one of the last start while it is good, else a new one. Kept in a file
 * for its owner only, because the database holds nothing but its hash.
 */
export async function ensureApiKey(options: {
  readonly databaseUrl: string;
  readonly org: string;
  readonly file: string;
  readonly purpose: keyof typeof PURPOSES;
}): Promise<string> {
  const { org, file, purpose } = options;
  const slot = purpose === 'local stack' ? org : `${org}/${purpose}`;
  const store = openStore({ databaseUrl: options.databaseUrl, poolSize: 2, applicationName: 'parley dev' });
  try {
    const known = readKeys(file);
    const kept = known[slot];
    if (kept !== undefined) {
      const answer = await store.apiKeys.authenticate(kept);
      if (answer.outcome === 'ok' && answer.record.org === org) {
        const { keyId, permissions } = answer.record;
        if (permissions.join() === PURPOSES[purpose].join()) return kept;
        // Of a version that gave it other permissions.
        await store.apiKeys.revoke({ org, keyId });
      }
    }
    const { apiKey } = await store.apiKeys.create({
      org,
      name: purpose,
      permissions: PURPOSES[purpose],
      expirationDays: EXPIRATION_DAYS,
      userId: USER_ID,
    });
    writeFileSync(file, JSON.stringify({ ...known, [slot]: apiKey }), { mode: 0o600 });
    return apiKey;
  } finally {
    await store.close();
  }
}

function readKeys(file: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}
