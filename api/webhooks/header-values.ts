/** Decides which values of a subscription's headers an answer shows. */
import type { WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { looksSecret, type Header } from '../codec/headers.ts';
import type { Draft } from '../codec/draft.ts';
import { companionName, ownCompanionName, refId, type KeyRef } from '../codec/secrets.ts';
import { MASK } from '../http/caller.ts';

export function headerRefs({ headers }: Pick<Draft<WebhookSubscription['spec']>, 'headers'>): readonly KeyRef[] {
  return (headers ?? []).flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]));
}

export interface HeaderSight {
  /** Values by `refId`; absent while Secrets can't be read. */
  readonly values: ReadonlyMap<string, string> | undefined;
  /** Set where the caller may see secrets. */
  readonly everything: boolean;
}

/**
 * Shows the headers. All values that came over REST are kept in the Secret, but only those count as secret whose header's name suggests
 * credentials. Values in Secrets of other owners are always secret.
 */
export function shownHeaders(
  subscription: Stored<WebhookSubscription>,
  { values, everything }: HeaderSight,
): Readonly<Record<string, string>> {
  const own = ownSecrets(subscription.metadata);
  return Object.fromEntries(
    (subscription.spec.headers ?? []).map((header) => {
      const { name, value, valueFrom } = header;
      const ref = valueFrom?.secretKeyRef;
      // The signing secret is in the same Secret, and is never shown.
      if (ref !== undefined && own.has(ref.name) && !isOurs(header, own)) return [name, MASK];
      if (!everything && !isPlain(header, subscription.metadata)) return [name, MASK];
      return [name, ref === undefined ? (value ?? '') : (values?.get(refId(ref)) ?? MASK)];
    }),
  );
}

/** Returns whether every reader may see the value: it came over REST, for a header whose name suggests no credentials. */
export function isPlain(header: Header, metadata: Metadata): boolean {
  return isOurs(header, ownSecrets(metadata)) && !looksSecret(header.name);
}

type Metadata = Stored<WebhookSubscription>['metadata'];

function ownSecrets({ name, uid }: Metadata): ReadonlySet<string> {
  return new Set([companionName('WebhookSubscription', name), ownCompanionName('WebhookSubscription', name, uid)]);
}

function isOurs({ valueFrom }: Header, own: ReadonlySet<string>): boolean {
  const ref = valueFrom?.secretKeyRef;
  return ref === undefined || (own.has(ref.name) && ref.key.startsWith('headers.'));
}
