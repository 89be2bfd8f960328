/** Writes single objects with the secrets, texts and other objects that belong to them, as lists of steps. It serves every kind alike. */
import type { KindDefinition } from '../../crds/kind.ts';
import { traceAnnotation } from '../../crds/trace-annotation.ts';
import { wellKnown } from '../../crds/index.ts';
import { KubeError } from '../../kube/error.ts';
import { apiVersionOf, type KubeObject, type Stored } from '../../kube/types.ts';
import { retry } from '../../platform/retry.ts';
import { currentSampledTrace } from '../../platform/telemetry/tracing.ts';
import { companionName, SecretWriter } from '../codec/secrets.ts';
import { ApiError } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { restName, type FieldNames } from '../partial/field-names.ts';
import { updatePartially, type Specified } from '../partial/partial-update.ts';
import { shapeOf, type Shape } from '../partial/shape.ts';
import { isAway } from './api-server-availability.ts';
import { orUndefined } from './companions.ts';
import type { ResourceContext } from './context.ts';
import { translateKubeErrors } from './kube-failures.ts';
import { randomId } from './names.ts';
import { isStale, planValueWrites, StagedValues, type CompanionRefs, type ValueChange } from './staged-values.ts';
import type { View } from './view.ts';
import { runSteps, type ResultOf, type Step } from './write-steps.ts';

/** Attempts of a write on cached state before the server is asked. */
const CACHED_ATTEMPTS = 2;
/** Far more attempts than writers of one object on several replicas need: each round one of them gets through. */
const MAX_ATTEMPTS = 30;

export interface ResourceKind<T extends Specified> {
  readonly definition: Pick<KindDefinition, 'descriptor' | 'spec'>;
  readonly fieldNames: FieldNames;
  /** Returns every key of Secrets and ConfigMaps that a spec, or its draft, refers to. */
  readonly companionRefs: (spec: T['spec'], name: string) => CompanionRefs;
}

export interface WriteMode {
  readonly dryRun: boolean;
  /** Takes fields from other managers. */
  readonly force: boolean;
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState?: (resourceVersion: string) => void;
}

export interface ResourceChange {
  readonly spec: unknown;
  readonly companions?: ValueChange['companions'];
  /** Writes of other objects that follow this one. */
  readonly after?: readonly Step[];
}

export interface Creation<T extends KubeObject> extends Omit<ResourceChange, 'after'> {
  readonly metadata?: Partial<KubeObject['metadata']>;
  /** Writes of other objects that the new object must not lack. */
  readonly before?: readonly Step[] | undefined;
  /** Returns writes that make the object the owner of others. @param object the step that makes it */
  readonly after?: (object: Step<Stored<T>>) => readonly Step[];
}

export interface Written<T extends KubeObject> {
  /** The object in the API server's answer. */
  readonly object: Stored<T>;
  /** Resource version of the object's own Secret, where the write changed it. */
  readonly secretVersion?: string | undefined;
  readonly resultOf: ResultOf;
}

export interface Updated<T extends KubeObject, C extends ResourceChange> extends Written<T> {
  readonly change: C;
  readonly previous: Stored<T>;
}

export interface CreationMode<T extends KubeObject> extends Pick<WriteMode, 'dryRun'> {
  /** Set where a client chose the name: throws KubeError `staleConflict` where an object has it. Otherwise the name is random. */
  readonly onlyNew?: boolean | undefined;
  /** Runs once the object is there; the object is taken back when it throws. */
  readonly confirm?: ((created: Written<T>) => Promise<void>) | undefined;
}

interface Write<T extends KubeObject> extends Pick<CreationMode<T>, 'dryRun' | 'confirm'> {
  /** Makes a dry run of all steps first, so that a refused write leaves no trace. */
  readonly rehearses: boolean;
  readonly values: ReturnType<typeof planValueWrites>;
  readonly before?: readonly Step[];
  readonly apply: Step<Stored<T>>;
  readonly after: readonly Step[];
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

  /** Returns the object as the server has it now; undefined where it doesn't exist, or is being deleted. */
  find(org: string, name: string): Promise<Stored<T> | undefined> {
    return this.#view.stored(org, name);
  }

  /**
   * Returns the secrets for encoding a request; it knows the present ones, so that sending one again changes nothing.
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

  /** Creates an object. Everything that belongs to it is written before it, marked as staged. */
  async create(
    { org, userId }: Caller,
    name: string,
    { metadata, before = [], after = () => [], ...change }: Creation<T>,
    { dryRun, confirm, onlyNew = false }: CreationMode<T>,
  ): Promise<Written<T>> {
    const { client } = this.#view;
    const annotations = { ...(userId !== null && { [wellKnown.createdBy]: userId }), ...metadata?.annotations };
    const object = {
      apiVersion: apiVersionOf(client.descriptor),
      kind: this.#kindName,
      metadata: { namespace: org, name, ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
      spec: change.spec,
    } as KubeObject as T;
    const apply: Step<Stored<T>> = {
      run: (_, asDryRun) => client[onlyNew ? 'applyNew' : 'apply'](asDryRun ? object : inTrace(object), { dryRun: asDryRun }),
      undo: async (created) => created && this.#takeBack(created),
    };
    const values = this.#valueWrites(org, name, change);
    const write = { dryRun, rehearses: before.length > 0, values, before, apply, after: after(apply), confirm };
    return translateKubeErrors(this.#kind.fieldNames, () => this.#carryOut(write));
  }

  /**
   * Changes one object. `change` gets its present state, again where another write comes in between, and returns undefined to leave it.
   * @param options.tryCached skips the reading where this process knows the newest state, as it mostly does. The apply carries that state's
   * resourceVersion, so that a success is as good as one after reading; anything else is found out from the server.
   * @returns undefined when the object is gone, or stays as it is
   */
  async update<C extends ResourceChange>(
    org: string,
    name: string,
    change: (stored: Stored<T>) => Promise<C | undefined>,
    mode: WriteMode,
    { tryCached = false }: { readonly tryCached?: boolean } = {},
  ): Promise<Updated<T, C> | undefined> {
    return this.#locked(org, name, async () => {
      const cached = tryCached ? await this.#updateCached(org, name, change, mode) : undefined;
      // Where nothing was written, only the server knows whether the cached state is still its own.
      if (cached !== undefined && cached.object.metadata.resourceVersion !== cached.previous.metadata.resourceVersion) return cached;
      return this.#retryStale(async () => {
        const stored = await this.find(org, name);
        if (stored === undefined) return undefined;
        if (cached?.object.metadata.resourceVersion === stored.metadata.resourceVersion) return cached;
        return this.#updateOnce(stored, change, mode);
      });
    });
  }

  /**
   * Deletes the object while `decide` returns true for its present state.
   * @returns false when the object is gone, or stays
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

  /** Runs one writer of an object at a time on this replica, and runs it again where another one came in between. */
  exclusively<R>(org: string, name: string, task: () => Promise<R>): Promise<R> {
    return this.#locked(org, name, () => this.#retryStale(task));
  }

  get #kindName(): string {
    return this.#kind.definition.descriptor.kind;
  }

  #locked<R>(org: string, name: string, task: () => Promise<R>): Promise<R> {
    return translateKubeErrors(this.#kind.fieldNames, () => this.#context.mutex.run(`${this.#kindName}/${org}/${name}`, task));
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

  async #updateCached<C extends ResourceChange>(
    org: string,
    name: string,
    change: (stored: Stored<T>) => Promise<C | undefined>,
    mode: WriteMode,
  ): Promise<Updated<T, C> | undefined> {
    let tried: string | undefined;
    for (let round = 0; round < CACHED_ATTEMPTS; round += 1) {
      const known = this.#view.newest(org, name);
      if (known === undefined || known.metadata.deletionTimestamp !== undefined || known.metadata.resourceVersion === tried)
        return undefined;
      tried = known.metadata.resourceVersion;
      try {
        return await this.#updateOnce(known, change, mode);
      } catch (error) {
        if (isAway(error)) throw error;
        // The write in between, mostly of a status, has usually reached this cache by now.
        if (!isStale(error)) return undefined;
      }
    }
    return undefined;
  }

  async #updateOnce<C extends ResourceChange>(
    stored: Stored<T>,
    change: (stored: Stored<T>) => Promise<C | undefined>,
    mode: WriteMode,
  ): Promise<Updated<T, C> | undefined> {
    const { namespace: org = '', name, resourceVersion } = stored.metadata;
    const { force, dryRun } = mode;
    mode.requireState?.(resourceVersion);
    const wanted = await change(stored);
    if (wanted === undefined) return undefined;
    const { spec: desired, after = [] } = wanted;
    const nameOf = (path: string): string => restName(this.#kind.fieldNames, path);
    const update = { client: this.#view.client, stored, desired, shape: this.#shape, force, nameOf };
    const apply: Step<Stored<T>> = { run: (_, asDryRun) => updatePartially({ ...update, dryRun: asDryRun }), isFinal: true };
    const values = this.#valueWrites(org, name, wanted, stored);
    const written = await this.#carryOut({ dryRun, rehearses: values.length + after.length > 0, values, apply, after });
    return { ...written, change: wanted, previous: stored };
  }

  async #carryOut({ dryRun, rehearses, values, before = [], apply, after, confirm }: Write<T>): Promise<Written<T>> {
    const staged = values.map((write) => new StagedValues(this.#context, write, apply));
    const [stages, commits] = [staged.map(({ stage }) => stage), staged.map(({ commit }) => commit)];
    const secrets = staged.filter(({ kind }) => kind === 'Secret');
    const writtenBy = (resultOf: ResultOf): Written<T> => ({
      object: resultOf(apply),
      secretVersion: secrets.map(({ commit }) => resultOf(commit)).findLast((version) => version !== undefined),
      resultOf,
    });
    if (dryRun || rehearses) {
      // The object comes first: its refusals say most.
      const resultOf = await runSteps([apply, ...stages, ...before, ...after], { dryRun: true });
      if (dryRun) return writtenBy(resultOf);
    }
    const note: Step = { run: async (resultOf) => this.#view.wrote(resultOf(apply)) };
    const confirmation: Step = { run: async (resultOf) => confirm?.(writtenBy(resultOf)), isCheck: true };
    return writtenBy(await runSteps([...stages, ...before, apply, note, ...commits, ...after, confirmation]));
  }

  /** Takes back an object that this request has made, whatever the operator has said about it meanwhile. */
  async #takeBack(created: Stored<T>): Promise<void> {
    const { namespace = '', name, uid } = created.metadata;
    await orUndefined(this.#view.client.delete({ namespace, name }, { uid, propagationPolicy: 'Background' }));
    this.#view.deleted(created);
  }

  #valueWrites(
    org: string,
    name: string,
    { spec, companions = {} }: Pick<ResourceChange, 'spec' | 'companions'>,
    owner?: Stored<T>,
  ): Write<T>['values'] {
    const before = owner === undefined ? {} : this.#kind.companionRefs(owner.spec, name);
    const after = this.#kind.companionRefs(spec, name);
    return planValueWrites({ namespace: org, for: { kind: this.#kindName, name }, owner, companions, before, after });
  }
}

/** Adds the trace to a new object, so that its first reconcile belongs to it. */
function inTrace<T extends KubeObject>(object: T): T {
  const trace = currentSampledTrace();
  if (trace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...traceAnnotation(trace, 1) } } };
}
