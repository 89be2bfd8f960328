/** The keys that sign a delivery, and the headers that its owner adds to it. */
import { wellKnown } from '../../crds/index.ts';
import { secretText, type SecretVersion } from '../../kube/index.ts';
import type { SigningKey } from '../signing/signing-keys.ts';
import { CURRENT_KEY_NAME, keysAt, readSigningSecret, type DatedKey } from '../signing/signing-secret.ts';
import { DeliverySecretError } from './delivery-secret-error.ts';
import type { Endpoint } from './endpoint.ts';
import { versionOf } from './watched-secrets.ts';

export { DeliverySecretError };

/** The headers and signing keys of one endpoint. */
export interface Credentials {
  /** Signing keys, newest first; without any, deliveries are unsigned. */
  readonly keys: readonly SigningKey[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Credentials made of an endpoint's own spec and these versions of Secrets. */
export interface CredentialSet {
  /** Versions of the Secrets that the credentials were made of, by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly keys: readonly DatedKey[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Names of the Secrets that the endpoint needs, each once. */
export function secretsOf({ signingSecret, headers }: Endpoint): readonly string[] {
  if (signingSecret === undefined && headers.length === 0) return [];
  const names = headers.flatMap((header) => ('secret' in header ? [header.secret.name] : []));
  return [...new Set(signingSecret === undefined ? names : [signingSecret, ...names])];
}

/**
 * @param secrets by name, every one that {@link secretsOf} names
 * @throws DeliverySecretError `missing` for a missing key, `invalid` for an unusable signing key
 */
export function makeCredentials(endpoint: Endpoint, secrets: ReadonlyMap<string, SecretVersion>): CredentialSet {
  const { org, signingSecret } = endpoint;
  const keys = signingSecret === undefined ? [] : signingKeys(org, signingSecret, secrets);
  const headers = endpoint.headers.map((header): readonly [string, string] => {
    if ('value' in header) return [header.name, header.value];
    const { name, key } = header.secret;
    const value = keyText(secrets.get(name), key);
    if (value !== undefined) return [header.name, value];
    throw new DeliverySecretError({
      reason: 'missing',
      message: `Secret ${org}/${name} has no key "${key}", which the header ${header.name} is read from`,
    });
  });
  const versions = Object.fromEntries([...secrets].map(([name, values]) => [name, versionOf(values)]));
  return { versions, keys, headers: Object.fromEntries(headers) };
}

function signingKeys(org: string, name: string, secrets: ReadonlyMap<string, SecretVersion>): readonly DatedKey[] {
  const secret = secrets.get(name);
  const keys = readSigningSecret((key) => keyText(secret, key), secret?.annotations[wellKnown.signingExpiry]);
  if (keys !== undefined) return keys;
  const there = secret?.data[CURRENT_KEY_NAME] !== undefined;
  throw new DeliverySecretError({
    reason: there ? 'invalid' : 'missing',
    message: there
      ? `key "${CURRENT_KEY_NAME}" of Secret ${org}/${name} cannot sign; write whsec_ followed by 24 to 64 random bytes in base64`
      : `Secret ${org}/${name} has no key "${CURRENT_KEY_NAME}" to sign with`,
  });
}

function keyText(secret: SecretVersion | undefined, key: string): string | undefined {
  const value = secret?.data[key];
  return value === undefined ? undefined : secretText(value);
}

export function credentialsAt({ keys, headers }: CredentialSet, now: number): Credentials {
  return { keys: keysAt(keys, now), headers };
}
