/** Follows objects of every kind from v1beta1 to v1 at a real API server. Whatever is lost on the way ends the trial with an error. */
import { KubeError } from '../../../kube/index.ts';
import { sameJson } from '../../../platform/json.ts';
import { type ValueGenerator, withDefaults } from '../../support/generated-objects.ts';
import { forEachOf } from '../harness/rounds.ts';
import type { Change, ConvertedObject, Fields } from './changes.ts';
import { type ChangedKind, NEW, OLD, randomObject, toVersion } from './kinds.ts';
import type { ManagedObject, VersionedKinds } from './server.ts';

const IN_FLIGHT = 8;

/** An object with what a client sees of it in a version. */
interface Followed {
  readonly kind: ChangedKind;
  readonly name: string;
  readonly seen: ConvertedObject;
}

export class Trial {
  readonly #kinds: VersionedKinds;
  readonly #generator: ValueGenerator;
  #followed: readonly Followed[] = [];

  constructor(kinds: VersionedKinds, generator: ValueGenerator) {
    this.#kinds = kinds;
    this.#generator = generator;
  }

  /** Creates `count` objects of each kind while there is only v1beta1. */
  async create(count: number): Promise<void> {
    const objects = this.#kinds.kinds.flatMap((kind) =>
      Array.from({ length: count }, (_, index) => ({ kind, object: randomObject(kind, OLD, `random-${index}`, this.#generator) })),
    );
    const followed: Followed[] = [];
    await forEachOf(objects, IN_FLIGHT, async ({ kind, object }) => {
      const stored = await this.#kinds.create(object);
      expectSame('what was created', stored.spec, withDefaults(kind.schemas[OLD], object.spec), object);
      followed.push({ kind, name: stored.metadata.name, seen: contentOf(stored) });
    });
    this.#followed = followed;
  }

  /** Reads every object in both versions. */
  async read(): Promise<void> {
    await forEachOf(this.#followed, IN_FLIGHT, async ({ kind, name, seen }) => {
      expectSame('v1beta1', contentOf(await this.#kinds.get(kind, OLD, name)), seen, seen);
      expectSame('v1', contentOf(await this.#kinds.get(kind, NEW, name)), toVersion(this.#kinds.kinds, seen, NEW), seen);
    });
  }

  /** Writes every object in v1, with a label more, as a client that knows v1 alone. */
  async writeInV1(): Promise<void> {
    await forEachOf(this.#followed, IN_FLIGHT, async ({ kind, name, seen }) => {
      const young = await this.#kinds.get(kind, NEW, name);
      const written = await this.#kinds.put({ ...young, metadata: { ...young.metadata, labels: { written: 'v1' } } });
      if (written.metadata.generation !== young.metadata.generation) throw new Error(`${kind.kind} ${name}: the spec changed on its way`);
      expectSame('v1beta1 after a write in v1', contentOf(await this.#kinds.get(kind, OLD, name)), seen, seen);
    });
  }

  /** Reads every object in v1 when v1beta1 is gone. */
  async readInV1(): Promise<void> {
    await forEachOf(this.#followed, IN_FLIGHT, async ({ kind, name, seen }) => {
      expectSame('v1 alone', contentOf(await this.#kinds.get(kind, NEW, name)), toVersion(this.#kinds.kinds, seen, NEW), seen);
    });
  }

  /**
   * Two managers own fields of one object, each in its version: each keeps its own, and what one gives up goes alone.
   * @returns how many objects were tried
   */
  async shareFields(): Promise<number> {
    for (const kind of this.#kinds.kinds) {
      const object = randomObject(kind, OLD, 'shared', this.#generator);
      const rename = kind.changes.find(({ type }) => type === 'rename') as Extract<Change, { type: 'rename' }>;
      const label = (name: string): ConvertedObject => ({ ...object, metadata: { name: 'shared', labels: { [name]: 'x' } } });
      const renamed = { [rename.to]: toVersion(this.#kinds.kinds, object, NEW).spec[rename.to] };
      await this.#kinds.apply({ ...label('old'), spec: object.spec }, 'git');
      // Only what has no default and no rule can be owned without the rest: the renamed field is enough.
      const ops: ConvertedObject = { ...label('new'), apiVersion: NEW, spec: renamed[rename.to] === undefined ? {} : renamed };
      await this.#kinds.apply(ops, 'ops');
      const first = await this.#kinds.apply({ ...label('old'), spec: object.spec }, 'git');
      const again = await this.#kinds.apply({ ...label('old'), spec: object.spec }, 'git');
      if (first.metadata.resourceVersion !== again.metadata.resourceVersion)
        throw new Error(`${kind.kind}: the same apply changes the object`);
      const managers = (again.metadata.managedFields ?? []).map(({ manager, apiVersion }) => `${manager} ${apiVersion}`);
      expectSame('managers', managers.toSorted(), [`git ${OLD}`, `ops ${NEW}`], managers);
      const { labels } = (await this.#kinds.apply({ ...ops, metadata: { name: 'shared' } }, 'ops')).metadata;
      expectSame('labels after ops gave its own up', labels, { old: 'x' }, managers);
    }
    return this.#kinds.kinds.length;
  }

  /**
   * A value and a member that v1beta1 doesn't know: a client of v1beta1 reads the object, changes something else of it, and leaves them alone.
   * @returns the types of change that were tried
   */
  async addFuture(): Promise<readonly string[]> {
    const tried = new Set<string>();
    for (const kind of this.#kinds.kinds) {
      for (const change of kind.changes) {
        if (change.type !== 'newValue' && change.type !== 'newMember') continue;
        const field = change.type === 'newValue' ? change.field : change.member;
        const spec = this.#generator.value(kind.schemas[NEW], { share: 0, with: [[...change.at, field]] }) as Fields;
        const parent = change.at.reduce<Fields>((fields, step) => fields[step] as Fields, spec);
        parent[field] = change.type === 'newValue' ? change.value : { note: 'only in v1' };
        const object = { apiVersion: NEW, kind: kind.kind, metadata: { name: change.type.toLowerCase() }, spec };
        const created = await this.#kinds.create(object);
        const old = await this.#kinds.get(kind, OLD, created.metadata.name);
        // An update of the whole object, as of a controller that adds its finalizer.
        await this.#kinds.put({ ...old, metadata: { ...old.metadata, labels: { changed: 'in-v1beta1' } } });
        expectSame(
          `v1 with a ${change.type}`,
          contentOf(await this.#kinds.get(kind, NEW, created.metadata.name)),
          contentOf(created),
          spec,
        );
        await this.#refuseFuture(old, change);
        tried.add(change.type);
      }
    }
    return [...tried];
  }

  /** A client of v1beta1 can't choose what only v1 has. */
  async #refuseFuture(old: ManagedObject, change: Change): Promise<void> {
    const {
      resourceVersion: _version,
      uid: _uid,
      managedFields: _fields,
      generation: _generation,
      ...metadata
    } = old.metadata as unknown as Fields;
    try {
      await this.#kinds.create({ ...old, metadata: { ...metadata, name: 'refused' } });
    } catch (error) {
      if (error instanceof KubeError && error.code === 422) return;
      throw error;
    }
    throw new Error(`${old.kind}: v1beta1 took the ${change.type} of v1`);
  }
}

/** Returns what a client sees of an object but for what the API server writes into it. */
function contentOf({ apiVersion, kind, metadata, spec }: ManagedObject): ConvertedObject {
  const { annotations, name } = metadata;
  return { apiVersion, kind, metadata: { name, ...(annotations !== undefined && { annotations }) }, spec };
}

function expectSame(what: string, found: unknown, expected: unknown, of: unknown): void {
  if (sameJson(found, expected)) return;
  throw new Error(
    `${what} is not what it was:\n${JSON.stringify(found)}\ninstead of\n${JSON.stringify(expected)}\nof\n${JSON.stringify(of)}`,
  );
}
