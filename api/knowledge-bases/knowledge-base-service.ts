/** Making, changing and deleting knowledge bases. Deleting one takes all that was put into it along, at once. */
import type { JobStarter } from '../../knowledge/jobs/job-starter.ts';
import { API_VERSION, knowledgeBaseKind, wellKnown, type KnowledgeBase } from '../../crds/index.ts';
import type { KnowledgeStore } from '../../store/index.ts';
import type { Stored } from '../../kube/types.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { shapeOf } from '../partial/shape.ts';
import { orUndefined } from '../resources/companions.ts';
import { cameFirst, isTaken, type FirstCome } from '../resources/first-come.ts';
import { release, Users } from '../references/users.ts';
import type { Foundation } from '../resources/foundation.ts';
import { inRestWords } from '../resources/kube-failures.ts';
import { isObjectName, randomId } from '../resources/names.ts';
import { ResourceWriter, type WriteMode } from '../resources/resource-writer.ts';
import { knowledgeBaseFromRest, nameOf } from './codec.ts';
import { knowledgeBaseFieldNames } from './field-names.ts';
import type { KnowledgeBaseCreate, KnowledgeBaseUpdate } from './schema.ts';

export interface UpdateOptions extends WriteMode {
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState: (resourceVersion: string) => void;
}

export class KnowledgeBaseService {
  readonly #foundation: Foundation;
  readonly #collections: KnowledgeStore['collections'];
  readonly #starter: JobStarter;
  readonly #users: Users;
  readonly #writer: ResourceWriter<KnowledgeBase>;

  constructor(options: {
    readonly foundation: Foundation;
    readonly collections: KnowledgeStore['collections'];
    readonly starter: JobStarter;
  }) {
    this.#foundation = options.foundation;
    this.#users = new Users(options.foundation);
    this.#collections = options.collections;
    this.#starter = options.starter;
    this.#writer = new ResourceWriter({
      foundation: options.foundation,
      kind: 'KnowledgeBase',
      client: options.foundation.clients.knowledgeBases,
      view: options.foundation.views.knowledgeBases,
      shape: shapeOf(knowledgeBaseKind.spec),
      fieldNames: knowledgeBaseFieldNames,
      secretRefs: () => [],
    });
  }

  list(org: string): Promise<readonly Stored<KnowledgeBase>[]> {
    return this.#foundation.views.knowledgeBases.find('namespace', org);
  }

  /** For an answer. @returns undefined when there is no such knowledge base */
  async find(org: string, name: string): Promise<Stored<KnowledgeBase> | undefined> {
    return isObjectName(name) ? this.#foundation.views.knowledgeBases.get(org, name) : undefined;
  }

  /** How many documents are in each, by the resource's name; what isn't in it has none. */
  totals(org: string, bases: readonly Stored<KnowledgeBase>[]): Promise<ReadonlyMap<string, number>> {
    return this.#collections.documentTotals({ org, names: bases.map(({ metadata }) => metadata.name) });
  }

  async create(caller: Caller, body: KnowledgeBaseCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<Stored<KnowledgeBase>> {
    const { org } = caller;
    const claim = this.#claim(org, body.name);
    if (await isTaken(claim)) throw nameTaken(body.name);
    const annotations = caller.userId === null ? undefined : { [wellKnown.createdBy]: caller.userId };
    const metadata = { namespace: org, name: `kb-${randomId()}`, ...(annotations && { annotations }) };
    const spec = { ...knowledgeBaseFromRest(body, undefined), deletionPolicy: 'Delete' };
    const object = { apiVersion: API_VERSION, kind: 'KnowledgeBase', metadata, spec } as unknown as KnowledgeBase;
    return inRestWords(knowledgeBaseFieldNames, async () => {
      const created = await this.#writer.create(object, new Map(), mode);
      if (mode.dryRun) return created;
      try {
        if (!(await cameFirst(created, claim))) throw nameTaken(body.name);
      } catch (error) {
        await this.#writer.takeBack(created);
        throw error;
      }
      return created;
    });
  }

  /** @returns undefined when there is no such knowledge base */
  async update(org: string, name: string, body: KnowledgeBaseUpdate, options: UpdateOptions): Promise<Stored<KnowledgeBase> | undefined> {
    if (!isObjectName(name)) return undefined;
    return inRestWords(knowledgeBaseFieldNames, () =>
      this.#writer.update(
        org,
        name,
        async (stored) => {
          options.requireState(stored.metadata.resourceVersion);
          if (body.name !== undefined && body.name !== nameOf(stored) && (await isTaken(this.#claim(org, body.name, name))))
            throw nameTaken(body.name);
          return { spec: knowledgeBaseFromRest(body, stored.spec) };
        },
        options,
      ),
    );
  }

  /**
   * Nothing of it is found any more from the moment this returns, whatever its deletion policy says.
   * @returns false when there is no such knowledge base
   * @throws ApiError `conflict` while an agent uses it, unless forced
   */
  async delete(caller: Caller, name: string, options: UpdateOptions): Promise<boolean> {
    const { org } = caller;
    if (!isObjectName(name)) return false;
    const { clients, views } = this.#foundation;
    return inRestWords(knowledgeBaseFieldNames, () =>
      this.#writer.exclusively(org, name, async () => {
        const stored = await this.#writer.find(org, name);
        if (stored === undefined) return false;
        const { uid, resourceVersion } = stored.metadata;
        options.requireState(resourceVersion);
        await release(await this.#users.ofKnowledgeBase(org, name), 'the knowledge base', caller, options);
        const deletion = { uid, resourceVersion, propagationPolicy: 'Background' } as const;
        // What the API server would refuse must not cost the documents.
        await clients.knowledgeBases.delete({ namespace: org, name }, { ...deletion, dryRun: true });
        if (options.dryRun) return true;
        await this.#tombstone(org, name, uid);
        // The documents are gone, so the resource goes in whatever state it is by now.
        await orUndefined(clients.knowledgeBases.delete({ namespace: org, name }, { uid, propagationPolicy: 'Background' }));
        views.knowledgeBases.deleted(stored);
        // Whoever saw the resource until just now may have put something in.
        await this.#tombstone(org, name, uid);
        return true;
      }),
    );
  }

  async #tombstone(org: string, knowledgeBase: string, uid: string): Promise<void> {
    for (const collectionId of await this.#collections.tombstone({ org, uid }))
      this.#starter.clearCollection({ org, knowledgeBase, collectionId });
  }

  #claim(org: string, displayName: string, except?: string): FirstCome<KnowledgeBase> {
    const { clients, views } = this.#foundation;
    return {
      view: views.knowledgeBases,
      client: clients.knowledgeBases,
      index: 'displayName',
      value: `${org}/${displayName}`,
      listed: { namespace: org },
      isRival: (other) => other.metadata.name !== except && nameOf(other) === displayName,
    };
  }
}

function nameTaken(name: string): ApiError {
  return new ApiError('conflict', `the organisation has a knowledge base called ${JSON.stringify(name)} already; use another name`);
}
