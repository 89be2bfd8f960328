/** Does `kubectl apply --server-side` of an export, with owners by name and a look at everything before the first write. */
import { apiVersionOf, KubeError, type OwnerReference, type Stored, type Transport } from '../../kube/index.ts';
import { UserError } from '../../platform/user-error.ts';
import { clientFor, descriptors } from './cluster.ts';
import type { ReadDocument } from './files.ts';
import { MANAGER_ANNOTATION, OWNER_ANNOTATION, PLACEHOLDER, type Manifest } from './portable.ts';

export interface ImportOptions {
  /** Owner of the applied fields; by default the one that a file names, else kubectl. */
  readonly fieldManager?: string | undefined;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** True to leave objects as they are that are there already. */
  readonly keepExisting?: boolean;
  /** The organisation to import into, in the place of the one that the objects name. */
  readonly org?: string | undefined;
  readonly onApplied: (object: Stored<Manifest>) => void;
}

interface Planned {
  readonly object: Manifest;
  /** `Kind/name` */
  readonly owner: string | undefined;
  readonly manager: string | undefined;
}

/** @throws UserError for documents that are no objects of an export */
export function planImport(documents: readonly ReadDocument[], org?: string): readonly Planned[] {
  return documents.map((read) => plan(read, org)).toSorted((a, b) => rankOf(a.object) - rankOf(b.object));
}

function rankOf({ kind, apiVersion }: Manifest): number {
  return descriptors.findIndex((descriptor) => descriptor.kind === kind && apiVersionOf(descriptor) === apiVersion);
}

function plan({ file, document }: ReadDocument, org: string | undefined): Planned {
  const { apiVersion, kind, metadata } = (typeof document === 'object' ? document : {}) as Partial<Manifest>;
  if (typeof metadata?.name !== 'string' || typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw new UserError(`a document in ${file} is no Kubernetes object: it needs apiVersion, kind and metadata.name`);
  }
  const what = `${kind} ${metadata.name}`;
  const object = document as Manifest;
  if (rankOf(object) < 0) {
    const known = descriptors.map((descriptor) => descriptor.kind).join(', ');
    throw new UserError(`${what} (${apiVersion}) is not imported: only ${known} are`, { cure: 'apply it with kubectl' });
  }
  const namespace = org ?? metadata.namespace;
  if (namespace === undefined) throw new UserError(`${what} names no namespace`, { cure: 'name the organisation with --org' });
  const values = Object.entries({ ...object.stringData });
  const notString = values.find(([, value]) => typeof value !== 'string');
  if (notString !== undefined)
    throw new UserError(`${what} has a value for ${notString[0]} that is not a string`, { cure: 'put it in quotes' });
  const left = values.filter(([, value]) => value === PLACEHOLDER);
  if (left.length > 0) {
    throw new UserError(`${what} has no value for ${left.map(([key]) => key).join(', ')}`, {
      cure: `write the values in the place of ${PLACEHOLDER}, or remove the Secret from the file and create it by other means`,
    });
  }
  const { [OWNER_ANNOTATION]: owner, [MANAGER_ANNOTATION]: manager, ...annotations } = metadata.annotations ?? {};
  const { name, labels } = metadata;
  const hasAnnotations = Object.keys(annotations).length > 0;
  const { stringData, ...rest } = object;
  // Ownership is recorded for data, and stringData is only another way to write it.
  const added = Object.fromEntries(values.map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  return {
    owner,
    manager,
    object: {
      ...rest,
      metadata: { name, namespace, ...(labels && { labels }), ...(hasAnnotations && { annotations }) },
      ...(stringData !== undefined && { data: { ...object.data, ...added } }),
    },
  };
}

/** This manager owns the owner references that an import sets, and nothing else. */
const OWNER_REFERENCE_MANAGER = 'parley-import-owner-references';

/**
 * Applies Secrets and ConfigMaps, then the resources, then gives those of the former their owners back that have lost them.
 * A dry run sends the same requests, for the server to answer as if.
 * @throws UserError with every object that was refused; the others are applied
 */
export async function applyImport(transport: Transport, planned: readonly Planned[], options: ImportOptions): Promise<void> {
  const { fieldManager, force, dryRun, keepExisting = false } = options;
  const applied = new Map<string, Stored<Manifest>>();
  const refused: string[] = [];
  const apply = async (object: Manifest, manager: string, isNew = false): Promise<Stored<Manifest> | undefined> => {
    const descriptor = descriptors[rankOf(object)];
    if (descriptor === undefined) return undefined;
    const client = clientFor(transport, descriptor, manager);
    try {
      return await (isNew ? client.applyNew(object, { dryRun }) : client.apply(object, { force, dryRun }));
    } catch (error) {
      if (isNew && error instanceof KubeError && error.staleConflict) return undefined;
      if (!(error instanceof KubeError) || error.code === 0 || error.code === 401) throw error;
      refused.push(`${object.kind} ${object.metadata.name}: ${error.message}`);
      return undefined;
    }
  };
  for (const { object, manager } of planned) {
    const stored = await apply(object, fieldManager ?? manager ?? 'kubectl', keepExisting);
    if (stored === undefined) continue;
    applied.set(manifestKey(object), stored);
    options.onApplied(stored);
  }
  for (const { object, owner } of planned) {
    const [stored, storedOwner] = [applied.get(manifestKey(object)), owner === undefined ? undefined : applied.get(owner)];
    if (stored === undefined || storedOwner === undefined || isOwnedBy(stored, storedOwner)) continue;
    // A dry run has made no object to which the reference could be added.
    await apply(withOwner(isThere(stored) ? pickIdentity(object) : object, storedOwner), OWNER_REFERENCE_MANAGER);
  }
  if (refused.length === 0) return;
  throw new UserError(`${refused.length} of ${planned.length} objects were refused:\n${refused.map((line) => `  ${line}`).join('\n')}`, {
    cure: 'correct the files and run it again: what was applied stays as it is. --force-conflicts takes over fields that others own',
  });
}

const manifestKey = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

const isThere = ({ metadata }: Manifest): boolean => metadata.resourceVersion !== undefined;

const isOwnedBy = ({ metadata: { ownerReferences = [] } }: Manifest, owner: Stored<Manifest>): boolean =>
  ownerReferences.some(({ uid }) => uid === owner.metadata.uid);

function withOwner(object: Manifest, { apiVersion, kind, metadata: { name, uid } }: Stored<Manifest>): Manifest {
  const ownerReferences: readonly OwnerReference[] = [{ apiVersion, kind, name, uid }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

const pickIdentity = ({ apiVersion, kind, metadata: { name, namespace } }: Manifest): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});
