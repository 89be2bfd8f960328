/** Reads everything that an organisation has from its namespace. */
import { kinds, wellKnown, type KindDefinition } from '../../crds/index.ts';
import { KubeError, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { referencesOf, type ParleyObject } from '../../operator/references/references-of.ts';
import { UserError } from '../../platform/user-error.ts';
import { FIELD_MANAGER } from '../cluster/connect.ts';
import { builtIn } from '../cluster/descriptors.ts';
import { clientFor, descriptors } from './cluster.ts';
import { managerOf, portableConfigMap, portableResource, portableSecret, type Manifest, type SecretMode } from './portable.ts';

export interface Export {
  /** Objects in a stable order: by kind as in `descriptors`, then by name. */
  readonly objects: readonly Manifest[];
  /** Says what a person should know: what was left out, or is missing. */
  readonly remarks: readonly string[];
}

/** @throws UserError when there is no such organisation */
export async function exportOrganization(
  transport: Transport,
  options: {
    readonly org: string;
    readonly secrets: SecretMode;
    /** True to write down who owns the fields. */
    readonly managers?: boolean;
  },
): Promise<Export> {
  const { org } = options;
  const remarks: string[] = [];
  const found = await Promise.all(
    kinds.map(async (kind: KindDefinition) => {
      const { items } = await clientFor(transport, kind.descriptor, FIELD_MANAGER).listAll({ namespace: org });
      const kept = items.filter((object) => isSettled(object, remarks));
      return { kind, objects: kept };
    }),
  );
  const resources = found.flatMap(({ objects }) => objects);
  // The operator of a single namespace asks for no label.
  if (resources.length === 0) await requireOrganization(transport, org);
  const companions = new Companions(resources);
  const [configMaps, secrets] = await Promise.all(
    [builtIn.configMaps, builtIn.secrets].map(async (descriptor) => {
      if (descriptor.kind === 'Secret' && options.secrets === 'none') return [];
      const client = clientFor(transport, descriptor, FIELD_MANAGER);
      const { items } = await client.listAll({ namespace: org });
      const wanted = items.filter((object) => companions.belongs(object) && isSettled(object, remarks));
      for (const name of companions.namesOf(descriptor.kind))
        if (!items.some(({ metadata }) => metadata.name === name))
          remarks.push(`${descriptor.kind} ${name} is referred to and does not exist`);
      return wanted;
    }),
  );
  const { secrets: mode, managers = false } = options;
  const remarksOn = (object: Stored<Manifest>) => ({ owner: companions.ownerOf(object), ...(managers && { manager: managerOf(object) }) });
  const objects = [
    ...(configMaps ?? []).map((object) => portableConfigMap(object, remarksOn(object))),
    ...(mode === 'none' ? [] : (secrets ?? []).map((object) => portableSecret(object, remarksOn(object), mode))),
    ...found.flatMap(({ kind, objects: all }) =>
      all.map((object) =>
        portableResource(object as Stored<KubeObject & { spec: unknown }>, kind, managers ? { manager: managerOf(object) } : {}),
      ),
    ),
  ];
  return { objects: objects.toSorted(inFileOrder), remarks: [...new Set(remarks)].toSorted() };
}

async function requireOrganization(transport: Transport, org: string): Promise<void> {
  try {
    const { metadata } = await clientFor(transport, builtIn.namespaces, FIELD_MANAGER).get({ name: org });
    if (metadata.labels?.[wellKnown.organizationLabel] === 'true') return;
  } catch (error) {
    if (!(error instanceof KubeError && error.notFound)) throw error;
  }
  throw new UserError(`there is no organisation ${JSON.stringify(org)} in this cluster`, { cure: 'parley org list' });
}

/** Tells whether the object is neither on its way out nor only half made. */
function isSettled({ kind, metadata }: Stored<KubeObject>, remarks: string[]): boolean {
  const why =
    metadata.deletionTimestamp === undefined
      ? metadata.labels?.['parley.dev/staged'] === undefined
        ? undefined
        : 'being written'
      : 'being deleted';
  if (why !== undefined) remarks.push(`${kind} ${metadata.name} is ${why}, and left out`);
  return why === undefined;
}

/** Finds Secrets and ConfigMaps of the exported resources: referenced or owned. */
class Companions {
  readonly #resources: ReadonlyMap<string, Stored<KubeObject>>;
  readonly #referred: ReadonlySet<string>;

  constructor(resources: readonly Stored<KubeObject>[]) {
    this.#resources = new Map(resources.map((object) => [object.metadata.uid, object]));
    this.#referred = new Set(
      resources.flatMap((object) => referencesOf(object as ParleyObject)).map(({ kind, name }) => `${kind}/${name}`),
    );
  }

  namesOf(kind: string): readonly string[] {
    return [...this.#referred].filter((key) => key.startsWith(`${kind}/`)).map((key) => key.slice(kind.length + 1));
  }

  belongs(object: Stored<KubeObject>): boolean {
    return this.#referred.has(`${object.kind}/${object.metadata.name}`) || this.ownerOf(object) !== undefined;
  }

  /** Returns `Kind/name` of the exported object that owns it. */
  ownerOf({ metadata }: Stored<KubeObject>): string | undefined {
    const owner = (metadata.ownerReferences ?? []).map(({ uid }) => this.#resources.get(uid)).find((object) => object !== undefined);
    return owner && `${owner.kind}/${owner.metadata.name}`;
  }
}

function inFileOrder(a: Manifest, b: Manifest): number {
  const rank = ({ kind }: Manifest): number => descriptors.findIndex((descriptor) => descriptor.kind === kind);
  return rank(a) - rank(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
}
