/** Deletes the resources of an organisation, and says which of them are held. */
import { kinds, wellKnown } from '../../crds/index.ts';
import { KubeError, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import { FIELD_MANAGER } from '../cluster/connect.ts';

/** Longest time that the operator may take to release deleted resources, in milliseconds. */
const RELEASE_MS = 180_000;
const LOOK_EVERY_MS = 500;
const REPORT_EVERY_MS = 10_000;

export interface HeldResource {
  readonly kind: string;
  readonly name: string;
  readonly finalizers: readonly string[];
}

export interface DeleteResourcesOptions {
  readonly org: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly onProgress: (line: string) => void;
}

/** Doesn't wait for finalizers of others, which may never go. @returns whether the operator has released all of them */
export async function deleteResources(options: DeleteResourcesOptions): Promise<boolean> {
  const { org, transport, clock, onProgress } = options;
  const started = clock.monotonic();
  const asked = new Set<string>();
  for (let reportAt = started + REPORT_EVERY_MS; ;) {
    const found = await resourcesOf(options);
    const fresh = found.filter(({ metadata }) => !asked.has(metadata.uid));
    for (const { descriptor, metadata } of fresh) {
      asked.add(metadata.uid);
      const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: FIELD_MANAGER });
      await client.delete({ namespace: org, name: metadata.name }).catch(unlessGone);
    }
    if (fresh.length > 0) onProgress(`${asked.size === 1 ? '1 resource is' : `${asked.size} resources are`} being deleted`);
    const waiting = found.map(toHeld).filter(isOurs);
    if (fresh.length === 0 && waiting.length === 0) return true;
    const waitedMs = clock.monotonic() - started;
    // The limit holds, too, where something makes them again and again.
    if (waitedMs >= RELEASE_MS) return false;
    if (waiting.length > 0 && clock.monotonic() >= reportAt) {
      reportAt += REPORT_EVERY_MS;
      onProgress(`waiting for the operator to release ${namesOf(waiting)} (${Math.round(waitedMs / 1_000)} s of ${RELEASE_MS / 1_000} s)`);
    }
    await sleep(clock, LOOK_EVERY_MS);
  }
}

export async function heldResources(options: Pick<DeleteResourcesOptions, 'org' | 'transport'>): Promise<readonly HeldResource[]> {
  return (await resourcesOf(options)).map(toHeld);
}

const toHeld = ({ kind, metadata: { name, finalizers = [] } }: Found): HeldResource => ({ kind, name, finalizers });

export const isOurs = ({ finalizers }: HeldResource): boolean => finalizers.includes(wellKnown.finalizer);

export function namesOf(held: readonly HeldResource[]): string {
  const names = held.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`);
  return `${names.join(', ')}${held.length > 3 ? ` and ${held.length - 3} more` : ''}`;
}

export function unlessGone(error: unknown): undefined {
  if (error instanceof KubeError && error.notFound) return undefined;
  throw error;
}

type Found = Pick<Stored<KubeObject>, 'metadata'> & { readonly kind: string; readonly descriptor: (typeof kinds)[number]['descriptor'] };

async function resourcesOf({ org, transport }: Pick<DeleteResourcesOptions, 'org' | 'transport'>): Promise<readonly Found[]> {
  const lists = await Promise.all(
    kinds.map(async ({ descriptor }) => {
      const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: FIELD_MANAGER });
      const { items } = await client.listAll({ namespace: org });
      return items.map(({ metadata }) => ({ kind: descriptor.kind, descriptor, metadata }));
    }),
  );
  return lists.flat();
}
