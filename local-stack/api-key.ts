import { readFileSync, writeFileSync } from 'node:fs';

import { openStore, type Permission } from '../store/index.ts';

/** The longest that a key can live; an expired one is replaced at the next start. */
const EXPIRATION_DAYS = 365;

/** Stands for the user that the keys act for. */
const USER_ID = 'local';

/** Permissions of the keys, by their purpose. */
const PURPOSES = {
  'local stack': ['*'],
  // This key is part of a page's address: it can talk to agents and read their calls, and do nothing else.
  'call page': ['calls:create'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

/**
 * Returns a key of the organisation for the local stack: the one of the last start while it is good, else a new one. The file that keeps
 * it is readable by its owner only, because the database holds nothing but its hash.
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
        // A version with other permissions created this key.
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
