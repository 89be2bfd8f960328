/** Reads the keys of the models that the configuration names. */
import { readFile } from 'node:fs/promises';

export interface KeyPlace {
  readonly apiKeyEnv?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

/** A profile names a place that has no key. The message ends the sentence that begins with the profile. */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
}

/**
 * Reads the key for each request: a mounted Secret may change at any time.
 * @returns undefined for a profile that names none
 * @throws MissingKeyError when the variable or file that it names is missing or empty
 */
export async function profileKey(
  { apiKeyEnv, apiKeyFile }: KeyPlace,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (apiKeyEnv === undefined && apiKeyFile === undefined) return undefined;
  const read = apiKeyFile === undefined ? env[apiKeyEnv ?? ''] : await readFile(apiKeyFile, 'utf8').catch(() => '');
  const key = read?.trim() ?? '';
  if (key !== '') return key;
  throw new MissingKeyError(
    apiKeyFile === undefined
      ? `takes its key from the variable ${apiKeyEnv}, which is not set`
      : `takes its key from the file ${apiKeyFile}, which can't be read or is empty`,
  );
}
