/** Makes, changes and deletes knowledge bases. Deleting one takes all of its documents along, at once. */
import { unknownRerankProfile } from '../../knowledge/collection-spec.ts';
import type { JobStarter } from '../../knowledge/jobs/job-starter.ts';
import { knowledgeBaseKind, type KnowledgeBase, type KnowledgeBaseSpec } from '../../crds/index.ts';
import { knowledgeBaseProblems } from '../../crds/limits.ts';
import type { KnowledgeStore } from '../../store/index.ts';
import type { CollectionOverview } from '../../store/knowledge/collections.ts';
import type { Stored } from '../../kube/types.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { ApiError, requireNoIssues } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { orUndefined } from '../resources/companions.ts';
import { releaseFrom, type FindUsers } from '../references/users.ts';
import type { KindContext } from '../kinds/context.ts';
import { specIssues } from '../resources/kube-failures.ts';
import { readableName } from '../resources/names.ts';
import { ResourceWriter, type ResourceKind, type WriteMode, type Written } from '../resources/resource-writer.ts';
import { requireFirst, requireFree, updateNamed, type NameClaim } from '../resources/unique-names.ts';
import type { View } from '../resources/view.ts';
import { knowledgeBaseFieldNames, knowledgeBaseFromRest, nameOf, type KnowledgeBaseCreate, type KnowledgeBaseUpdate } from './fields.ts';

export const knowledgeBaseResource: ResourceKind<KnowledgeBase> = {
  definition: knowledgeBaseKind,
  fieldNames: knowledgeBaseFieldNames,
  companionRefs: () => ({}),
};

export interface KnowledgeBaseServiceOptions {
  readonly context: KindContext;
  readonly collections: KnowledgeStore['collections'];
  readonly rerankProfiles: ApiDependencies['knowledge']['rerankProfiles'];
  readonly starter: JobStarter;
  readonly users: readonly FindUsers[];
}

export class KnowledgeBaseService {
  readonly #options: KnowledgeBaseServiceOptions;
  readonly #view: View<KnowledgeBase>;
  readonly #writer: ResourceWriter<KnowledgeBase>;

  constructor(options: KnowledgeBaseServiceOptions) {
    this.#options = options;
    this.#view = options.context.views.knowledgeBases;
    this.#writer = new ResourceWriter(options.context, knowledgeBaseResource, this.#view);
  }

  /** Returns the numbers of documents by the resource's name; a knowledge base that is missing has none. */
  documentCounts(org: string, bases: readonly Stored<KnowledgeBase>[]): Promise<ReadonlyMap<string, CollectionOverview['documents']>> {
    return this.#options.collections.documentCounts({ org, names: bases.map(({ metadata }) => metadata.name) });
  }

  async create(caller: Caller, body: KnowledgeBaseCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<Stored<KnowledgeBase>> {
    const spec = this.#soundSpec(body, undefined);
    const claims = [this.#claim(caller.org, body.name)];
    await requireFree(claims);
    const confirm = ({ object }: Written<KnowledgeBase>): Promise<void> => requireFirst(object, claims);
    const creation = { spec: { ...spec, deletionPolicy: 'Delete' } };
    return (await this.#writer.create(caller, readableName('kb', body.name), creation, { ...mode, confirm })).object;
  }

  /**
   * @returns undefined when there is no such knowledge base
   * @throws ApiError `conflict` when the name is taken
   */
  async update(org: string, name: string, body: KnowledgeBaseUpdate, options: WriteMode): Promise<Stored<KnowledgeBase> | undefined> {
    const claims = (to: string) => [this.#claim(org, to, name)];
    const change = async (stored: Stored<KnowledgeBase>) => {
      const spec = this.#soundSpec(body, stored.spec);
      if (body.name !== undefined && body.name !== nameOf(stored)) await requireFree(claims(body.name));
      return { spec };
    };
    const writer = this.#writer;
    const update = (mode: WriteMode) => writer.update(org, name, change, mode);
    const withName = (spec: KnowledgeBaseSpec, displayName: string) => ({ ...spec, displayName });
    return (await updateNamed({ writer, org, name, to: body.name, nameOf, withName, claims, update }, options))?.object;
  }

  /**
   * Deletes a knowledge base. Searches find none of its documents from the moment this returns, whatever its deletion policy says.
   * @returns false when there is no such knowledge base
   * @throws ApiError `conflict` while an agent uses it, unless forced
   */
  delete(caller: Caller, name: string, mode: WriteMode): Promise<boolean> {
    const { org } = caller;
    return this.#writer.exclusively(org, name, async () => {
      const { client } = this.#view;
      const stored = await this.#writer.find(org, name);
      if (stored === undefined) return false;
      const { uid, resourceVersion } = stored.metadata;
      mode.requireState?.(resourceVersion);
      await releaseFrom(this.#options.users, { what: 'the knowledge base', name }, caller, mode);
      const deletion = { uid, propagationPolicy: 'Background' } as const;
      // A deletion that the API server would refuse must not cost the documents.
      await client.delete({ namespace: org, name }, { ...deletion, resourceVersion, dryRun: true });
      if (mode.dryRun) return true;
      await this.#tombstone(org, name, uid);
      // The documents are gone, so the resource is deleted in whatever state it is by now.
      await orUndefined(client.delete({ namespace: org, name }, deletion));
      this.#view.deleted(stored);
      // A request that still saw the resource may have added a document.
      await this.#tombstone(org, name, uid);
      return true;
    });
  }

  async #tombstone(org: string, knowledgeBase: string, uid: string): Promise<void> {
    for (const collectionId of await this.#options.collections.tombstone({ org, uid }))
      this.#options.starter.clearCollection({ org, knowledgeBase, collectionId });
  }

  /** @throws ValidationError with problems that only the whole spec shows */
  #soundSpec(body: KnowledgeBaseUpdate, previous: KnowledgeBaseSpec | undefined): ReturnType<typeof knowledgeBaseFromRest> {
    const spec = knowledgeBaseFromRest(body, previous);
    const check = (base: KnowledgeBaseSpec) => [
      ...knowledgeBaseProblems(base),
      ...unknownRerankProfile(base, this.#options.rerankProfiles),
    ];
    requireNoIssues(specIssues(knowledgeBaseResource, check, spec, previous));
    return spec;
  }

  #claim(org: string, displayName: string, except?: string): NameClaim<KnowledgeBase> {
    return {
      view: this.#view,
      index: 'displayName',
      value: `${org}/${displayName}`,
      listed: { namespace: org },
      isRival: (other) => other.metadata.name !== except && nameOf(other) === displayName,
      refusal: () => nameTaken(displayName),
    };
  }
}

function nameTaken(name: string): ApiError {
  return new ApiError('conflict', `the organisation has a knowledge base called ${JSON.stringify(name)} already; use another name`);
}
