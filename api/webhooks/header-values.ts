/** Which values of a subscription's headers an answer shows. */
import type { WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { looksSecret } from '../codec/headers.ts';
import type { Draft } from '../codec/present.ts';
import { companionName, ownCompanionName, refId, type KeyRef } from '../codec/secrets.ts';
import { mask } from '../http/caller.ts';

/** Every Secret key that the headers refer to. */
export function headerRefs({ headers }: Pick<Draft<WebhookSubscription['spec']>, 'headers'>): readonly KeyRef[] {
  return (headers ?? []).flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]));
}

export interface HeaderSight {
  /** By `refId`; absent while Secrets can't be read. */
  readonly values: ReadonlyMap<string, string> | undefined;
  /** The caller may see secrets. */
  readonly everything: boolean;
}

/**
 * All values that came over REST are kept in the Secret, but only those that are credentials by the name of their header are treated as such
 * when they are shown. What somebody else keeps in a Secret is always one.
 */
export function shownHeaders(
  subscription: Stored<WebhookSubscription>,
  { values, everything }: HeaderSight,
): Readonly<Record<string, string>> {
  const { name: id, uid } = subscription.metadata;
  const own = new Set([companionName('WebhookSubscription', id), ownCompanionName('WebhookSubscription', id, uid)]);
  return Object.fromEntries(
    (subscription.spec.headers ?? []).map(({ name, value, valueFrom }) => {
      const ref = valueFrom?.secretKeyRef;
      const beside = ref !== undefined && own.has(ref.name);
      const ours = ref === undefined || (beside && ref.key.startsWith('headers.'));
      // The signing secret stands in the same Secret, and is shown to nobody.
      if (beside && !ours) return [name, mask];
      if (!everything && (!ours || looksSecret(name))) return [name, mask];
      return [name, ref === undefined ? (value ?? '') : (values?.get(refId(ref)) ?? mask)];
    }),
  );
}
