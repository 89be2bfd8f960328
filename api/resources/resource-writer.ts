/** Writes of single objects with the secrets, texts and other objects that belong to them, so that a crash leaves nothing half. For every kind alike. */
import type { KindDefinition } from '../../crds/kind.ts';
import { traceAnnotation } from '../../crds/trace-annotation.ts';
import { wellKnown } from '../../crds/index.ts';
import { KubeError } from '../../kube/error.ts';
import { apiVersionOf, type KubeObject, type Stored } from '../../kube/types.ts';
import { retry } from '../../platform/retry.ts';
import { currentSampledTrace } from '../../platform/telemetry/tracing.ts';
import { companionName, SecretWriter, type KeyRef } from '../codec/secrets.ts';
import { ApiError } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { restName, type FieldNames } from '../partial/field-names.ts';
import { updatePartially, type Specified } from '../partial/partial-update.ts';
import { shapeOf, type Shape } from '../partial/shape.ts';
import { companionWrites, isStale, orUndefined, type CompanionKind, type NewValues, type StagedValues } from './companions.ts';
import type { ResourceContext } from './context.ts';
import { inRestWords } from './kube-failures.ts';
import { randomId } from './names.ts';
import type { View } from './view.ts';

/** How often a write is tried on what this process knows before the server is asked. */
const CACHED_ATTEMPTS = 2;
/** Far more than writers of one object on several replicas need: each round one of them gets through. */
const MAX_ATTEMPTS = 30;

/** What the shared code has to know of a kind. */
export interface ResourceKind<T extends Specified> {
  readonly definition: Pick<KindDefinition, 'descriptor' | 'spec'>;
  readonly fieldNames: FieldNames;
  /** Every key of Secrets and ConfigMaps that a spec, or the draft of one, refers to. */
  readonly companionRefs: (spec: T['spec'], name: string) => Readonly<Partial<Record<CompanionKind, readonly KeyRef[]>>>;
}

export interface WriteMode {
  readonly dryRun: boolean;
  /** Take fields from other managers. */
  readonly force: boolean;
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState?: (resourceVersion: string) => void;
  /** Called with the resource version of the object's own Secret, where the write went there too. */
  readonly wroteSecret?: (resourceVersion: string) => void;
}

/** New values for a Secret or ConfigMap of this name, by key. */
export interface Companion {
  readonly name: string;
  readonly pending: ReadonlyMap<string, string>;
  readonly expected?: NewValues['expected'];
}

/** Other objects that are written with this one. */
export interface Parts {
  /** Checks with the server that they could be written, and writes nothing. */
  dryRun(): Promise<void>;
  /** Before a new object (`owner` is absent then), or after a changed one. */
  write(owner?: Stored<KubeObject>): Promise<void>;
  /** The new object exists. */
  settle(owner: Stored<KubeObject>): Promise<void>;
  /** The new object could not be made. */
  takeBack(): Promise<void>;
}

/** What a request makes of an object. */
export interface ResourceChange {
  /** The whole spec as it should be. */
  readonly spec: unknown;
  readonly companions?: Partial<Readonly<Record<CompanionKind, Companion>>>;
  readonly parts?: Parts | undefined;
}

export interface Creation extends ResourceChange {
  readonly metadata?: Partial<KubeObject['metadata']>;
}

export interface CreationMode<T extends KubeObject> extends Pick<WriteMode, 'dryRun' | 'wroteSecret'> {
  /** A client chose the name: throws KubeError `staleConflict` where an object has it. Absent: the name is random. */
  readonly onlyNew?: boolean | undefined;
  /** Runs once the object is there, which is taken back when it throws. */
  readonly confirm?: (created: Stored<T>) => Promise<void>;
}

export class ResourceWriter<T extends Specified> {
  readonly #context: ResourceContext;
  readonly #kind: ResourceKind<T>;
  readonly #view: View<T>;
  readonly #shape: Shape;

  constructor(context: ResourceContext, kind: ResourceKind<T>, view: View<T>) {
    this.#context = context;
    this.#kind = kind;
    this.#view = view;
    this.#shape = shapeOf(kind.definition.spec);
  }

  /** The object as the server has it now; undefined where it doesn't exist, or is being deleted. */
  find(org: string, name: string): Promise<Stored<T> | undefined> {
    return this.#view.stored(org, name);
  }

  /**
   * For encoding a request: knows the present secrets, so that sending one again changes nothing.
   * @param previous absent where the request brings no secrets
   */
  async secretWriter(caller: Caller, name: string, previous: Stored<T> | undefined): Promise<SecretWriter> {
    const { org } = caller;
    const { companions } = this.#context;
    const [stored, own] =
      previous === undefined
        ? [new Map<string, string>(), companionName(this.#kindName, name)]
        : await Promise.all([
            companions.readSecrets(org, this.#kind.companionRefs(previous.spec, name).Secret ?? []),
            companions.nameFor('Secret', previous),
          ]);
    return new SecretWriter({ name: own, stored, mayMove: mayReadSecrets(caller), randomId: () => randomId(8) });
  }

  /** Everything that belongs to the new object is written before it, marked as staged. */
  async create(
    { org, userId }: Caller,
    name: string,
    { metadata, ...change }: Creation,
    { dryRun, wroteSecret, confirm, onlyNew = false }: CreationMode<T>,
  ): Promise<Stored<T>> {
    const { client } = this.#view;
    const { parts } = change;
    const annotations = { ...(userId !== null && { [wellKnown.createdBy]: userId }), ...metadata?.annotations };
    const object = {
      apiVersion: apiVersionOf(client.descriptor),
      kind: this.#kindName,
      metadata: { namespace: org, name, ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
      spec: change.spec,
    } as KubeObject as T;
    const apply = (made: T, asDryRun = false): Promise<Stored<T>> =>
      onlyNew ? client.applyNew(made, { dryRun: asDryRun }) : client.apply(made, { dryRun: asDryRun });
    return inRestWords(this.#kind.fieldNames, async () => {
      const writes = this.#companionWrites(org, name, change, undefined);
      if (dryRun || parts !== undefined) {
        const checked = await apply(object, true);
        await this.#dryRunParts(writes, parts);
        if (dryRun) return checked;
      }
      const staged = await this.#stage(writes);
      const created = await discardOnFailure(staged, async () => {
        try {
          // Parts first: an object that is there has its parts.
          await parts?.write();
          return await apply(inTrace(object));
        } catch (error) {
          if (!isUncertain(error)) await parts?.takeBack();
          throw error;
        }
      });
      this.#view.wrote(created);
      await commit(staged, created, wroteSecret);
      await parts?.settle(created);
      try {
        await confirm?.(created);
      } catch (error) {
        await this.#takeBack(created);
        throw error;
      }
      return created;
    });
  }

  /**
   * Changes one object; `change` gets its present state, again where another write comes in between.
   * @param options.tryCached spares the reading where this process knows the newest state, as it does mostly. The apply carries that state's
   * resourceVersion, so that a success is as good as one after reading; anything else is found out from the server.
   * @returns undefined when the object is gone
   */
  async update(
    org: string,
    name: string,
    change: (stored: Stored<T>) => Promise<ResourceChange>,
    mode: WriteMode,
    { tryCached = false }: { readonly tryCached?: boolean } = {},
  ): Promise<Stored<T> | undefined> {
    return this.#locked(org, name, async () => {
      const cached = tryCached ? await this.#updateCached(org, name, change, mode) : undefined;
      if (cached?.changed) return cached.object;
      return this.#retryStale(async () => {
        const stored = await this.find(org, name);
        if (stored === undefined) return undefined;
        // There was nothing to write, and the state that said so is the server's.
        if (cached?.object.metadata.resourceVersion === stored.metadata.resourceVersion) return cached.object;
        return this.#updateOnce(stored, change, mode);
      });
    });
  }

  /**
   * Deletes the object while `decide` says so of its present state.
   * @returns false when it is gone, or stays
   */
  async delete(
    org: string,
    name: string,
    { dryRun, requireState }: Pick<WriteMode, 'dryRun' | 'requireState'>,
    decide: (stored: Stored<T>) => boolean | Promise<boolean> = () => true,
  ): Promise<boolean> {
    return this.exclusively(org, name, async () => {
      const stored = await this.find(org, name);
      if (stored === undefined) return false;
      const { uid, resourceVersion } = stored.metadata;
      requireState?.(resourceVersion);
      if (!(await decide(stored))) return false;
      try {
        await this.#view.client.delete({ namespace: org, name }, { uid, resourceVersion, dryRun, propagationPolicy: 'Background' });
      } catch (error) {
        if (error instanceof KubeError && error.notFound) return false;
        throw error;
      }
      if (!dryRun) this.#view.deleted(stored);
      return true;
    });
  }

  /** One writer of an object at a time on this replica, and again from the start where another one came in between. */
  exclusively<R>(org: string, name: string, task: () => Promise<R>): Promise<R> {
    return this.#locked(org, name, () => this.#retryStale(task));
  }

  /** Takes back an object that this request has made, whatever the operator has said about it meanwhile. */
  async #takeBack(created: Stored<T>): Promise<void> {
    const { namespace = '', name, uid } = created.metadata;
    await orUndefined(this.#view.client.delete({ namespace, name }, { uid, propagationPolicy: 'Background' }));
    this.#view.deleted(created);
  }

  get #kindName(): string {
    return this.#kind.definition.descriptor.kind;
  }

  #locked<R>(org: string, name: string, task: () => Promise<R>): Promise<R> {
    return inRestWords(this.#kind.fieldNames, () => this.#context.mutex.run(`${this.#kindName}/${org}/${name}`, task));
  }

  /** Runs `attempt` again, from its reading, while other writes come in between. */
  async #retryStale<R>(attempt: () => Promise<R>): Promise<R> {
    const { clock, random } = this.#context;
    const delayMs = (error: unknown, failures: number): number | undefined =>
      isStale(error) && failures < MAX_ATTEMPTS ? Math.min(200, 5 * failures) * random() : undefined;
    return retry(attempt, { delayMs, clock }).catch((error: unknown) => {
      if (!isStale(error)) throw error;
      throw new ApiError('conflict', 'the object kept changing while this request was carried out; try again', {
        conflicts: [],
        cause: error,
      });
    });
  }

  async #updateCached(
    org: string,
    name: string,
    change: (stored: Stored<T>) => Promise<ResourceChange>,
    mode: WriteMode,
  ): Promise<{ readonly object: Stored<T>; readonly changed: boolean } | undefined> {
    let tried: string | undefined;
    for (let round = 0; round < CACHED_ATTEMPTS; round += 1) {
      const known = this.#view.newest(org, name);
      if (known === undefined || known.metadata.deletionTimestamp !== undefined || known.metadata.resourceVersion === tried)
        return undefined;
      tried = known.metadata.resourceVersion;
      try {
        const object = await this.#updateOnce(known, change, mode);
        // Where nothing was written, only the server knows whether its state is still this one.
        return { object, changed: object.metadata.resourceVersion !== tried };
      } catch (error) {
        if (isUncertain(error)) throw error;
        // What came in between, a status mostly, is known here by now more often than not.
        if (!isStale(error)) return undefined;
      }
    }
    return undefined;
  }

  async #updateOnce(stored: Stored<T>, change: (stored: Stored<T>) => Promise<ResourceChange>, mode: WriteMode): Promise<Stored<T>> {
    const { namespace: org = '', name, resourceVersion } = stored.metadata;
    const { force, dryRun } = mode;
    mode.requireState?.(resourceVersion);
    const wanted = await change(stored);
    const { spec: desired, parts } = wanted;
    const nameOf = (path: string): string => restName(this.#kind.fieldNames, path);
    const apply = (asDryRun: boolean): Promise<Stored<T>> =>
      updatePartially({ client: this.#view.client, stored, desired, shape: this.#shape, force, dryRun: asDryRun, nameOf });
    const writes = this.#companionWrites(org, name, wanted, stored);
    if (dryRun || writes.length > 0 || parts !== undefined) {
      const checked = await apply(true);
      await this.#dryRunParts(writes, parts);
      if (dryRun) return checked;
    }
    const staged = await this.#stage(writes);
    const written = await discardOnFailure(staged, () => apply(false));
    this.#view.wrote(written);
    await commit(staged, written, mode.wroteSecret);
    await parts?.write(written);
    return written;
  }

  #companionWrites(
    org: string,
    name: string,
    { spec, companions = {} }: ResourceChange,
    owner: Stored<T> | undefined,
  ): readonly NewValues[] {
    const before = owner === undefined ? {} : this.#kind.companionRefs(owner.spec, name);
    const after = this.#kind.companionRefs(spec, name);
    return (['Secret', 'ConfigMap'] as const).flatMap((kind) =>
      companionWrites({
        kind,
        namespace: org,
        for: { kind: this.#kindName, name },
        owner,
        name: companions[kind]?.name ?? companionName(this.#kindName, name),
        values: companions[kind]?.pending ?? new Map<string, string>(),
        expected: companions[kind]?.expected,
        before: before[kind] ?? [],
        after: after[kind] ?? [],
      }),
    );
  }

  async #dryRunParts(writes: readonly NewValues[], parts: Parts | undefined): Promise<void> {
    await Promise.all(writes.map((each) => this.#context.companions.dryRun(each)));
    await parts?.dryRun();
  }

  async #stage(writes: readonly NewValues[]): Promise<readonly StagedValues[]> {
    const staged: StagedValues[] = [];
    for (const write of writes) staged.push(await discardOnFailure(staged, () => this.#context.companions.stage(write)));
    return staged;
  }
}

async function commit(staged: readonly StagedValues[], owner: Stored<KubeObject>, wroteSecret: WriteMode['wroteSecret']): Promise<void> {
  for (const each of staged) {
    const version = await each.commit(owner);
    if (version !== undefined && each.kind === 'Secret') wroteSecret?.(version);
  }
}

/**
 * What was staged for a write that is refused is taken back. Where it is uncertain whether the write happened, or taking back
 * fails too, the sweeper decides later.
 */
async function discardOnFailure<T>(staged: readonly StagedValues[], write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUncertain(error)) await Promise.allSettled(staged.map((values) => values.discard()));
    throw error;
  }
}

/** A new object, with the trace that its first reconcile belongs to. */
function inTrace<T extends KubeObject>(object: T): T {
  const trace = currentSampledTrace();
  if (trace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...traceAnnotation(trace, 1) } } };
}

/** The write may have happened all the same: there was no answer, or one that doesn't say. */
export const isUncertain = (error: unknown): boolean => error instanceof KubeError && (error.code === 0 || error.code >= 500);
