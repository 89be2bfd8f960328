/** Rotates the signing keys in a subscription's Secret. Pure. */
import { wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import type { KubeObject } from '../../kube/types.ts';
import { CURRENT_KEY_NAME, previousKeyNames } from '../../webhooks/signing/signing-secret.ts';
import { companionName, type KeyRef } from '../codec/secrets.ts';
import type { Draft } from '../codec/draft.ts';
import type { Secret } from '../resources/core-clients.ts';
import { headerRefs } from './header-values.ts';

/** Returns the name of the Secret with the keys of the mode Generated. */
export function signingSecretName(name: string): string {
  return companionName('WebhookSubscription', name);
}

/** Returns the keys of the own Secret that sign the subscription; none where it is unsigned, or where a person keeps the keys. */
function signingRefs(spec: Pick<Draft<WebhookSubscription['spec']>, 'signing'>, name: string): readonly KeyRef[] {
  if (spec.signing?.mode !== 'Generated') return [];
  return [CURRENT_KEY_NAME, ...previousKeyNames].map((key) => ({ name: signingSecretName(name), key }));
}

export function subscriptionSecretRefs(
  spec: Pick<Draft<WebhookSubscription['spec']>, 'signing' | 'headers'>,
  name: string,
): readonly KeyRef[] {
  return [...headerRefs(spec), ...signingRefs(spec, name)];
}

export interface Rotated {
  /** Merge patch of the Secret's data: values in base64, null for removed ones. */
  readonly data: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** End of the signing by the replaced key; null where it has ended. */
  readonly previousExpiresAt: string | null;
}

/** Reports that one more former key would end the promise that was made for another one. */
export class TooManyFormerKeysError extends Error {
  override readonly name = 'TooManyFormerKeysError';
  /** Earliest end of a former key, RFC 3339; undefined where none has an end. */
  readonly until: string | undefined;

  constructor(until: string | undefined) {
    super(`${previousKeyNames.length} former keys still sign`);
    this.until = until;
  }
}

/**
 * Puts a new key in the place of the present one, which becomes the newest of at most four former ones, if there is a grace period.
 * @param options.now milliseconds since the epoch
 * @throws TooManyFormerKeysError where there are four, and a grace period
 */
export function rotated(
  secret: Pick<Secret, 'data' | 'metadata'> | undefined,
  key: string,
  options: { readonly graceMs: number; readonly now: number },
): Rotated {
  const { graceMs, now } = options;
  const data = secret?.data ?? {};
  const ends = expiryOf(secret);
  const replaced = data[CURRENT_KEY_NAME];
  const former = previousKeyNames.flatMap((name) => {
    const value = data[name];
    const end = ends[name];
    return value === undefined || (end !== undefined && Date.parse(end) <= now) ? [] : [{ value, end }];
  });
  const end = new Date(now + graceMs).toISOString();
  const crowded = graceMs > 0 && replaced !== undefined && former.length >= previousKeyNames.length;
  if (crowded) throw new TooManyFormerKeysError(former.flatMap((each) => each.end ?? []).toSorted()[0]);
  const kept = graceMs === 0 ? [] : [...(replaced === undefined ? [] : [{ value: replaced, end }]), ...former];
  const expiry = Object.fromEntries(kept.flatMap((each, index) => (each.end === undefined ? [] : [[previousKeyNames[index], each.end]])));
  return {
    data: {
      [CURRENT_KEY_NAME]: Buffer.from(key).toString('base64'),
      ...Object.fromEntries(previousKeyNames.map((name, index) => [name, kept[index]?.value ?? null])),
    },
    annotations: { [wellKnown.signingExpiry]: Object.keys(expiry).length === 0 ? null : JSON.stringify(expiry) },
    previousExpiresAt: replaced === undefined || graceMs === 0 ? null : end,
  };
}

/** Reads the ends of former keys. An unreadable end is none: the key signs along until it is taken out. */
function expiryOf(secret: Pick<KubeObject, 'metadata'> | undefined): Readonly<Record<string, string | undefined>> {
  try {
    const read = JSON.parse(secret?.metadata.annotations?.[wellKnown.signingExpiry] ?? '{}') as unknown;
    const entries = typeof read === 'object' && read !== null ? Object.entries(read) : [];
    return Object.fromEntries(entries.filter(([, end]) => typeof end === 'string' && !Number.isNaN(Date.parse(end))));
  } catch {
    return {};
  }
}
