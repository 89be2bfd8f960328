import { readFileSync, writeFileSync } from 'node:fs';

import { openStore } from '../../store/index.ts';

/** The longest that a key can live; an expired one is replaced at the next start. */
const expirationDays = 365;

/**
 * The organisation's key of the local stack: the one of the last start while it is good, else a new one. Kept in a file
 * for its owner only, because the database holds nothing but its hash.
 */
export async function ensureApiKey(options: {
  readonly databaseUrl: string;
  readonly org: string;
  readonly file: string;
}): Promise<string> {
  const { org, file } = options;
  const store = openStore({ databaseUrl: options.databaseUrl, poolSize: 2, applicationName: 'parley dev' });
  try {
    const known = readKeys(file);
    const kept = known[org];
    if (kept !== undefined) {
      const answer = await store.apiKeys.authenticate(kept);
      if (answer.outcome === 'ok' && answer.record.org === org) return kept;
    }
    const { apiKey } = await store.apiKeys.create({ org, name: 'local stack', permissions: ['*'], expirationDays });
    writeFileSync(file, JSON.stringify({ ...known, [org]: apiKey }), { mode: 0o600 });
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
