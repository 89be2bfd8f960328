/**
 * Decides who keeps a value that must be unique in more than one object's view: the first one does. The order of writes is the API server's
 * own (resource versions count its writes), so that of any number of requests on any number of replicas exactly one is first.
 */
import { compareResourceVersions } from '../../kube/resource-version.ts';
import type { ListOptions } from '../../kube/resource-client.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { View } from './view.ts';

export interface FirstCome<T extends KubeObject> {
  readonly view: View<T>;
  readonly index: string;
  readonly value: string;
  /** Options with which the API server lists the rivals. */
  readonly listed: Pick<ListOptions, 'namespace' | 'fieldSelector'>;
  /** Returns whether `other`, found there, claims the same value. */
  readonly isRival: (other: Stored<T>) => boolean | Promise<boolean>;
}

/** Returns whether the value is claimed already, as far as this process knows: it spares a write in vain. */
export async function isTaken<T extends KubeObject>({ view, index, value, isRival }: FirstCome<T>): Promise<boolean> {
  return (await rivalsAmong(await view.find(index, value), isRival)).length > 0;
}

/**
 * Returns whether no rival had the value when `written` got it.
 * @param written the API server's answer to the write that claims it: its resource version is that very moment
 */
export async function cameFirst<T extends KubeObject>(written: Stored<T>, claim: FirstCome<T>): Promise<boolean> {
  const { resourceVersion } = written.metadata;
  const isOther = async (other: Stored<T>): Promise<boolean> => other.metadata.uid !== written.metadata.uid && claim.isRival(other);
  const known = await claim.view.findSince(written, claim.index, claim.value);
  const rivals = known && (await rivalsAmong(known, isOther));
  if (rivals?.length === 0) return true;
  // A rival whose last write is older had the value first.
  if (rivals?.some(({ metadata }) => compareResourceVersions(metadata.resourceVersion, resourceVersion) < 0)) return false;
  const { items } = await claim.view.client.listAll({ ...claim.listed, resourceVersion, resourceVersionMatch: 'Exact' });
  const present = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return (await rivalsAmong(present, isOther)).length === 0;
}

async function rivalsAmong<T>(objects: readonly T[], isRival: (object: T) => boolean | Promise<boolean>): Promise<readonly T[]> {
  const verdicts = await Promise.all(objects.map(async (object) => isRival(object)));
  return objects.filter((_, index) => verdicts[index]);
}
