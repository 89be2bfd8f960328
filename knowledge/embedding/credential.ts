/** The key of an embedding server: named in the profile, never written there. */
import { readFile } from 'node:fs/promises';

import { EmbeddingError } from './embedding-error.ts';
import type { EmbeddingProfile } from './profile.ts';

/**
 * Read anew for each request: a mounted Secret may change at any time.
 * @returns undefined for a profile that names none
 * @throws EmbeddingError `misconfigured` when what it names is missing or empty
 */
export async function credentialOf(
  profile: EmbeddingProfile,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (profile.provider !== 'openai_compatible') return undefined;
  const { name, apiKeyEnv, apiKeyFile } = profile;
  if (apiKeyEnv !== undefined) {
    const key = env[apiKeyEnv]?.trim() ?? '';
    if (key === '') throw missing(`Embedding profile "${name}" takes its key from the variable ${apiKeyEnv}, which is not set.`);
    return key;
  }
  if (apiKeyFile === undefined) return undefined;
  const key = await readFile(apiKeyFile, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  if (key === '') throw missing(`Embedding profile "${name}" takes its key from the file ${apiKeyFile}, which can't be read or is empty.`);
  return key;
}

function missing(message: string): EmbeddingError {
  return new EmbeddingError('misconfigured', message, { retryable: false });
}
