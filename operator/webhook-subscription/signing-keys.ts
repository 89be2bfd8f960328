/** Finds the keys in a signing Secret that cannot be used, and those that have expired. */
import { secretText } from '../../kube/index.ts';
import { CURRENT_KEY_NAME, previousKeyNames, readExpiry } from '../../webhooks/signing/signing-secret.ts';
import { parseSigningKey } from '../../webhooks/signing/signing-keys.ts';
import type { DataObject, UnusableKeys } from '../references/cluster-snapshot.ts';
import type { Problem } from '../status/reasons.ts';

type Present = Extract<DataObject, { readonly state: 'present' }>;

const KEY_NAMES: readonly string[] = [CURRENT_KEY_NAME, ...previousKeyNames];

/** Longest header in characters, each of which is a byte when it is sent; most servers take no more in all headers together. */
const LONGEST_HEADER = 8_192;

/** Whether a text is one line of printable characters of Latin-1, which is what a header can carry. */
function isHeaderValue(text: string): boolean {
  return text.length <= LONGEST_HEADER && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Checks the values of a Secret, in base64, and keeps none. */
export function unusableKeys(data: Readonly<Record<string, string>>): UnusableKeys {
  const texts = Object.entries(data).map(([key, value]) => [key, secretText(value)] as const);
  return {
    signing: new Set(texts.flatMap(([key, text]) => (KEY_NAMES.includes(key) && parseSigningKey(text) === undefined ? [key] : []))),
    header: new Set(texts.flatMap(([key, text]) => (isHeaderValue(text) ? [] : [key]))),
  };
}

/** Names the Secret and the keys, never what is in them. */
export function signingKeyProblems(namespace: string, name: string, secret: DataObject): readonly Problem[] {
  if (secret.state !== 'present') return [];
  return KEY_NAMES.filter((key) => secret.keys.has(key) && secret.unusable?.signing.has(key)).map((key) => ({
    reason: 'SigningKeyInvalid',
    message: `key "${key}" of Secret ${namespace}/${name} is not a signing key; write whsec_ followed by 24 to 64 random bytes in base64`,
  }));
}

/** The current key is required; previous ones only add signatures. */
export function cannotSign(secret: DataObject): boolean {
  return secret.state === 'present' && secret.unusable?.signing.has(CURRENT_KEY_NAME) === true;
}

export interface Expiry {
  readonly over: readonly string[];
  /** When the next one expires, in milliseconds since the epoch. */
  readonly next?: number;
}

/** Keys without a valid date never expire. */
export function expiryOf({ keys, signingExpiry }: Pick<Present, 'keys' | 'signingExpiry'>, now: number): Expiry {
  const dates = readExpiry(signingExpiry);
  const timed = previousKeyNames.flatMap((key) => {
    const at = keys.has(key) ? Date.parse(dates[key] ?? '') : NaN;
    return Number.isNaN(at) ? [] : [{ key, at }];
  });
  const left = timed.filter(({ at }) => at > now).map(({ at }) => at);
  return {
    over: timed.filter(({ at }) => at <= now).map(({ key }) => key),
    ...(left.length > 0 && { next: Math.min(...left) }),
  };
}

/** Returns the annotation without the removed keys; undefined where none is left. */
export function expiryWithout(text: string | undefined, removed: readonly string[]): string | undefined {
  const left = Object.entries(readExpiry(text)).filter(([key]) => !removed.includes(key));
  return left.length === 0 ? undefined : JSON.stringify(Object.fromEntries(left));
}
