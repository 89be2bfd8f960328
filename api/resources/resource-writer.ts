/** Writes of single objects with the secrets that belong to them, so that a crash leaves nothing half. For every kind alike. */
import { traceAnnotation } from '../../crds/trace-annotation.ts';
import { KubeError } from '../../kube/error.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import { currentSampledTrace } from '../../platform/telemetry/tracing.ts';
import { companionName, SecretWriter, type KeyRef } from '../codec/secrets.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { restName, type FieldNames } from '../partial/field-names.ts';
import { updatePartially, type Specified } from '../partial/partial-update.ts';
import type { Shape } from '../partial/shape.ts';
import { companionWrites, orUndefined, type StagedValues } from './companions.ts';
import type { Foundation } from './foundation.ts';
import { randomId } from './names.ts';
import { retryStale } from './retry.ts';
import type { Stage } from './staging.ts';
import type { View } from './views.ts';

export interface WriteMode {
  readonly dryRun: boolean;
  /** Take fields from other managers. */
  readonly force: boolean;
  /** Told the resource version of the object's own Secret, where the write went there too. */
  readonly wroteSecret?: (resourceVersion: string) => void;
}

/** What a request makes of an object. */
export interface Change {
  /** The whole spec as it should be. */
  readonly spec: unknown;
  /** New values for the object's own Secret, by key. */
  readonly secrets?: ReadonlyMap<string, string>;
}

export interface ResourceWriterOptions<T extends Specified> {
  readonly foundation: Foundation;
  readonly kind: Stage['for']['kind'];
  readonly client: ResourceClient<T>;
  readonly view: View<T>;
  readonly shape: Shape;
  readonly fieldNames: FieldNames;
  /** Every Secret key that a spec, or the draft of one, refers to. */
  readonly secretRefs: (spec: T['spec'], name: string) => readonly KeyRef[];
}

export class ResourceWriter<T extends Specified> {
  readonly #options: ResourceWriterOptions<T>;

  constructor(options: ResourceWriterOptions<T>) {
    this.#options = options;
  }

  /** The object as the server has it now; undefined where there is none, or none any more. */
  find(org: string, name: string): Promise<Stored<T> | undefined> {
    return this.#options.view.stored(org, name);
  }

  /**
   * For encoding a request: knows the present secrets, so that sending one again changes nothing.
   * @param previous absent where the request brings no secrets
   */
  async secretWriter(caller: Caller, name: string, previous: Stored<T> | undefined): Promise<SecretWriter> {
    const { org } = caller;
    const { foundation, kind, secretRefs } = this.#options;
    const { companions } = foundation;
    const [stored, own] =
      previous === undefined
        ? [new Map<string, string>(), companionName(kind, name)]
        : await Promise.all([companions.readSecrets(org, secretRefs(previous.spec, name)), companions.nameFor('Secret', previous)]);
    return new SecretWriter({ name: own, stored, mayMove: mayReadSecrets(caller), randomId: () => randomId(8) });
  }

  async create(
    object: T,
    secrets: ReadonlyMap<string, string>,
    { dryRun, wroteSecret }: Pick<WriteMode, 'dryRun' | 'wroteSecret'>,
  ): Promise<Stored<T>> {
    const { foundation, kind, client, view } = this.#options;
    if (dryRun) return client.apply(object, { dryRun });
    const { name, namespace = '' } = object.metadata;
    const staged =
      secrets.size === 0
        ? undefined
        : await foundation.companions.stage({
            kind: 'Secret',
            namespace,
            name: companionName(kind, name),
            values: secrets,
            replaced: [],
            for: { kind, name },
          });
    const created = await discardOnFailure(staged, () => client.apply(inTrace(object)));
    const secretVersion = await staged?.commit(created);
    if (secretVersion !== undefined) wroteSecret?.(secretVersion);
    view.wrote(created);
    return created;
  }

  /**
   * Changes one object; `change` gets its present state, again where somebody else's write comes in between.
   * @returns undefined when the object is gone
   */
  async update(org: string, name: string, change: (stored: Stored<T>) => Promise<Change>, mode: WriteMode): Promise<Stored<T> | undefined> {
    const { foundation, kind, client, view, shape, fieldNames, secretRefs } = this.#options;
    return this.exclusively(org, name, async () => {
      const stored = await this.find(org, name);
      if (stored === undefined) return undefined;
      const { spec, secrets = new Map<string, string>() } = await change(stored);
      const apply = (dryRun: boolean): Promise<Stored<T>> =>
        updatePartially({
          client,
          stored,
          desired: spec,
          shape,
          force: mode.force,
          dryRun,
          nameOf: (path) => restName(fieldNames, path),
        });
      if (mode.dryRun) return apply(true);
      const { companions } = foundation;
      const writes = companionWrites({
        kind: 'Secret',
        namespace: org,
        for: { kind, name },
        owner: stored,
        name: secrets.size > 0 ? await companions.nameFor('Secret', stored) : companionName(kind, name),
        values: secrets,
        before: secretRefs(stored.spec, name),
        after: secretRefs(spec, name),
      });
      if (writes.length > 0) await apply(true);
      const staged: StagedValues[] = [];
      for (const write of writes) staged.push(await discardOnFailure(staged, () => companions.stage(write)));
      const written = await discardOnFailure(staged, () => apply(false));
      for (const each of staged) {
        const secretVersion = await each.commit(written);
        if (secretVersion !== undefined) mode.wroteSecret?.(secretVersion);
      }
      view.wrote(written);
      return written;
    });
  }

  /**
   * Deletes the object while `decide` says so of its present state.
   * @returns false when it is gone, or stays
   */
  async delete(org: string, name: string, decide: (stored: Stored<T>) => boolean, { dryRun }: Pick<WriteMode, 'dryRun'>): Promise<boolean> {
    return this.exclusively(org, name, async () => {
      const stored = await this.find(org, name);
      if (stored === undefined || !decide(stored)) return false;
      const { uid, resourceVersion } = stored.metadata;
      const { client, view } = this.#options;
      const gone = !(await deleted(
        client.delete({ namespace: org, name }, { uid, resourceVersion, dryRun, propagationPolicy: 'Background' }),
      ));
      if (gone) return false;
      if (!dryRun) view.deleted(stored);
      return true;
    });
  }

  /** Takes back an object that this request has made, whatever the operator has said about it meanwhile. */
  async takeBack(created: Stored<T>): Promise<void> {
    const { client, view } = this.#options;
    const { namespace = '', name, uid } = created.metadata;
    await orUndefined(client.delete({ namespace, name }, { uid, propagationPolicy: 'Background' }));
    view.deleted(created);
  }

  /** One writer of an object at a time on this replica, and again from the start where another one came in between. */
  exclusively<R>(org: string, name: string, task: () => Promise<R>): Promise<R> {
    const { foundation, kind } = this.#options;
    return foundation.mutex.run(`${kind}/${org}/${name}`, () => retryStale(foundation, task));
  }
}

/**
 * What was staged for a write that is refused is taken back. Where it is uncertain whether the write happened, or taking back
 * fails too, the sweeper decides later.
 */
export async function discardOnFailure<T>(staged: StagedValues | readonly StagedValues[] | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUncertain(error)) await Promise.allSettled([staged ?? []].flat().map((values) => values.discard()));
    throw error;
  }
}

/** A new object, with the trace that its first reconcile belongs to. */
export function inTrace<T extends KubeObject>(object: T): T {
  const trace = currentSampledTrace();
  if (trace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...traceAnnotation(trace, 1) } } };
}

/** @returns false where somebody else was quicker */
export async function deleted(deletion: Promise<void>): Promise<boolean> {
  try {
    await deletion;
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.notFound) return false;
    throw error;
  }
}

/** The write may have happened all the same: there was no answer, or one that doesn't say. */
export function isUncertain(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 0 || error.code >= 500);
}
