/**
 * What must be unique in more than one object's view: the first one keeps it. The order of writes is the API server's own
 * (resource versions count its writes), so that of any number of requests on any number of replicas exactly one is first.
 */
import { compareResourceVersions } from '../../kube/resource-version.ts';
import type { ListOptions } from '../../kube/resource-client.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { View } from './view.ts';

export interface FirstCome<T extends KubeObject> {
  readonly view: View<T>;
  /** Where the view finds the rivals. */
  readonly index: string;
  readonly value: string;
  /** How the API server finds them. */
  readonly listed: Pick<ListOptions, 'namespace' | 'fieldSelector'>;
  /** Whether `other`, found there, claims the same thing. */
  readonly isRival: (other: Stored<T>) => boolean | Promise<boolean>;
}

/** Whether the same is claimed already, as far as this process knows: spares a write in vain. */
export async function isTaken<T extends KubeObject>({ view, index, value, isRival }: FirstCome<T>): Promise<boolean> {
  return (await rivalsAmong(await view.find(index, value), isRival)).length > 0;
}

/**
 * Whether no rival had it when `written` got it.
 * @param written as the server answered the write that claims it: the resource version is that very moment
 */
export async function cameFirst<T extends KubeObject>(written: Stored<T>, claim: FirstCome<T>): Promise<boolean> {
  const { resourceVersion } = written.metadata;
  const isOther = async (other: Stored<T>): Promise<boolean> => other.metadata.uid !== written.metadata.uid && claim.isRival(other);
  const known = await claim.view.findSince(written, claim.index, claim.value);
  const rivals = known && (await rivalsAmong(known, isOther));
  if (rivals?.length === 0) return true;
  // What was last written before was there before.
  if (rivals?.some(({ metadata }) => compareResourceVersions(metadata.resourceVersion, resourceVersion) < 0)) return false;
  const { items } = await claim.view.client.listAll({ ...claim.listed, resourceVersion, resourceVersionMatch: 'Exact' });
  const present = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return (await rivalsAmong(present, isOther)).length === 0;
}

async function rivalsAmong<T>(objects: readonly T[], isRival: (object: T) => boolean | Promise<boolean>): Promise<readonly T[]> {
  const verdicts = await Promise.all(objects.map(async (object) => isRival(object)));
  return objects.filter((_, index) => verdicts[index]);
}
