/** Finds the collection in Postgres behind the knowledge base that a request names. */
import { isObjectName } from '../resources/names.ts';
import type { KindContext } from '../kinds/context.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import type { KnowledgeBase } from '../../crds/index.ts';
import { collectionSpecOf } from '../../knowledge/collection-spec.ts';
import type { Stored } from '../../kube/types.ts';
import { StoreError, type Collection, type KnowledgeStore } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';

/**
 * Asks Postgres first: uploads and searches go on while the Kubernetes API is unavailable. A knowledge base that was just made has no
 * collection yet: its resource describes the collection to make.
 */
export class BaseCollections {
  readonly #views: Pick<KindContext['views'], 'knowledgeBases'>;
  readonly #collections: KnowledgeStore['collections'];
  readonly #profiles: ApiDependencies['knowledge']['profiles'];

  constructor(options: {
    readonly views: Pick<KindContext['views'], 'knowledgeBases'>;
    readonly collections: KnowledgeStore['collections'];
    readonly profiles: ApiDependencies['knowledge']['profiles'];
  }) {
    this.#views = options.views;
    this.#collections = options.collections;
    this.#profiles = options.profiles;
  }

  /**
   * Finds the collection for a reader.
   * @returns undefined for a knowledge base that never had a document
   * @throws ApiError `not_found` when there is no such knowledge base
   */
  async find(org: string, name: string): Promise<Collection | undefined> {
    const collection = isObjectName(name) ? await this.#collections.byName({ org, name }) : undefined;
    if (collection === undefined) await this.#resource(org, name);
    return collection;
  }

  /**
   * Finds the collection for a writer, and makes it where there is none yet.
   * @throws ApiError `not_found`, or `conflict` when the knowledge base can't take documents as it is configured
   */
  async ensure(org: string, name: string): Promise<Collection> {
    const known = isObjectName(name) ? await this.#collections.byName({ org, name }) : undefined;
    if (known !== undefined) return known;
    const resource = await this.#resource(org, name);
    const profile = this.#profiles.find((each) => each.name === resource.spec.embedding.profile);
    if (profile === undefined)
      throw new ApiError(
        'conflict',
        `the embedding profile ${JSON.stringify(resource.spec.embedding.profile)} of this knowledge base is not configured`,
      );
    try {
      return await this.#collections.ensure(collectionSpecOf(resource, profile));
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'conflict') throw new ApiError('conflict', error.message, { cause: error });
      throw error;
    }
  }

  async #resource(org: string, name: string): Promise<Stored<KnowledgeBase>> {
    const resource = isObjectName(name) ? await this.#views.knowledgeBases.get(org, name) : undefined;
    if (resource === undefined) throw notFound('Knowledge base');
    return resource;
  }
}
