/** Finishes or cleans up writes that a process left marked when it died in the middle (staging.ts). Any number of replicas may do it. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import { KubeError } from '../../kube/error.ts';
import { sleep } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Store } from '../../store/index.ts';
import type { KeyRef } from '../codec/secrets.ts';
import { orUndefined } from './companions.ts';
import type { ResourceContext } from './context.ts';
import type { Specified } from '../partial/partial-update.ts';
import type { ResourceKind } from './resource-writer.ts';
import { ownerReferenceTo, STAGED_LABEL, stageOf, withoutMarks } from './staging.ts';
import type { View } from './view.ts';

/** Time between two rounds, in milliseconds. */
const SWEEP_INTERVAL_MS = 60_000;
/** Age after which a marked write has been abandoned, in milliseconds: longer than any request lasts. */
const ABANDONED_AFTER_MS = 120_000;

const STAGED = `${STAGED_LABEL}=true`;

export interface SweptKind {
  readonly kind: string;
  /** Finds the object with the keys of Secrets and ConfigMaps that it refers to; undefined where it doesn't exist. */
  readonly find: (namespace: string, name: string) => Promise<Owner | undefined>;
}

interface Owner {
  readonly object: Stored<KubeObject>;
  readonly refs: readonly KeyRef[];
}

export function sweptKind<T extends Specified>({ client }: Pick<View<T>, 'client'>, { companionRefs }: ResourceKind<T>): SweptKind {
  return {
    kind: client.descriptor.kind,
    find: async (namespace, name) => {
      const object = await orUndefined(client.get({ namespace, name }));
      return object && { object, refs: Object.values(companionRefs(object.spec, name)).flat() };
    },
  };
}

export interface StagedSweeperOptions {
  readonly context: ResourceContext;
  readonly kinds: readonly SweptKind[];
  /** Kinds whose objects can be staged for another object, next to Secrets and ConfigMaps. */
  readonly parts: readonly ResourceClient<KubeObject>[];
  readonly organizations: Pick<Store['organizations'], 'list'>;
}

export class StagedSweeper {
  readonly #options: StagedSweeperOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #mayListAll: boolean;

  constructor(options: StagedSweeperOptions) {
    this.#options = options;
    this.#mayListAll = options.context.namespace === undefined;
  }

  start(): void {
    const { clock, logger, random } = this.#options.context;
    const { signal } = this.#stopping;
    const failure = 'failed to look for unfinished writes; retrying in the next round';
    const loop = { intervalMs: SWEEP_INTERVAL_MS, clock, random, logger, failure, signal };
    // Replicas don't sweep all at once, and not while they start.
    this.#running = sleep(clock, SWEEP_INTERVAL_MS * (0.5 + random()), signal)
      .catch(() => undefined)
      .then(() => every(loop, () => this.sweep()));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async sweep(): Promise<void> {
    const { namespace } = this.#options.context;
    const organizations = namespace === undefined ? (await this.#options.organizations.list()).map(({ name }) => name) : [namespace];
    for (const client of this.#clients()) {
      if (this.#stopping.signal.aborted) return;
      await this.#settleAll(client, await this.#staged(client, organizations));
    }
  }

  async sweepOrganization(org: string): Promise<void> {
    for (const client of this.#clients())
      await this.#settleAll(client, (await client.listAll({ namespace: org, labelSelector: STAGED })).items);
  }

  #clients(): readonly ResourceClient<KubeObject>[] {
    const { secrets, configMaps } = this.#options.context.clients;
    return [secrets, configMaps, ...this.#options.parts] as readonly ResourceClient<KubeObject>[];
  }

  /** Finds staged objects with one request, or where permissions are granted by namespace with one for each organisation. */
  async #staged(client: ResourceClient<KubeObject>, organizations: readonly string[]): Promise<readonly Stored<KubeObject>[]> {
    const known = new Set(organizations);
    if (this.#mayListAll) {
      try {
        const { items } = await client.listAll({ labelSelector: STAGED });
        return items.filter(({ metadata }) => known.has(metadata.namespace ?? ''));
      } catch (error) {
        if (!isForbidden(error)) throw error;
        // Permissions seldom change: every round would be refused, and fill the audit log.
        this.#mayListAll = false;
      }
    }
    const found: Stored<KubeObject>[] = [];
    for (const namespace of organizations) {
      try {
        found.push(...(await client.listAll({ namespace, labelSelector: STAGED })).items);
      } catch (error) {
        // An organisation whose namespace has not been granted (yet) must not keep the others from being swept.
        if (!isForbidden(error)) throw error;
        this.#options.context.logger.debug(
          { org: namespace, kind: client.descriptor.kind },
          'not allowed to look for unfinished writes; skipping the organisation',
        );
      }
    }
    return found;
  }

  async #settleAll(client: ResourceClient<KubeObject>, objects: readonly Stored<KubeObject>[]): Promise<void> {
    for (const object of objects) {
      try {
        await this.#settle(client, object);
      } catch (err) {
        // The object changed meanwhile: another request works on it.
        if (err instanceof KubeError && (err.staleConflict || err.notFound)) continue;
        const { namespace, name } = object.metadata;
        this.#options.context.logger.warn(
          { err, org: namespace, kind: object.kind, name },
          'failed to finish an unfinished write; retrying in the next round',
        );
      }
    }
  }

  async #settle(client: ResourceClient<KubeObject>, object: Stored<KubeObject>): Promise<void> {
    const stage = stageOf(object);
    if (stage === undefined || this.#options.context.clock.now() - Date.parse(stage.at) < ABANDONED_AFTER_MS) return;
    const { namespace = '', name, uid, resourceVersion, ownerReferences = [] } = object.metadata;
    const swept = this.#options.kinds.find(({ kind }) => kind === stage.for.kind);
    const owner = await swept?.find(namespace, stage.for.name);
    if (owner === undefined) {
      // The garbage collector deletes an object with an owner reference.
      if (ownerReferences.length === 0) await client.delete({ namespace, name }, { uid, resourceVersion });
      return;
    }
    const unused = stage.keys.filter((key) => !owner.refs.some((ref) => ref.name === name && ref.key === key));
    await client.mergePatch(object, {
      metadata: { ...withoutMarks, ...(ownerReferences.length === 0 && { ownerReferences: [ownerReferenceTo(owner.object)] }) },
      ...(unused.length > 0 && { data: Object.fromEntries(unused.map((key) => [key, null])) }),
    });
  }
}

const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.code === 403;
