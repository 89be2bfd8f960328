/** Returns pages of a list of resources, all of them or those of one `state.ready`. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { pageOf } from '../pagination/keyset.ts';
import type { PageTokens } from '../pagination/page-token.ts';
import type { ResourceState } from './resource-state.ts';

export interface ListRequest<T> {
  /** Names the list, so that tokens of other lists don't open it. */
  readonly list: string;
  readonly objects: readonly T[];
  readonly query: { readonly page_size: number; readonly page_token?: string | undefined; readonly ready?: boolean | undefined };
  readonly stateOf: (object: T) => Promise<ResourceState> | ResourceState;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly next_page_token: string | null;
  readonly total: number;
}

/**
 * Returns a page. A position is a point in the order of creation, so that a whole walk sees each resource of the state exactly once.
 *
 * @throws ValidationError for a token of another list; a list with another filter is another list
 */
export async function listPage<T extends Stored<KubeObject>>(tokens: PageTokens, request: ListRequest<T>): Promise<ListPage<T>> {
  const { objects, query, stateOf } = request;
  const list = query.ready === undefined ? request.list : `${request.list}?ready=${query.ready}`;
  const position = query.page_token === undefined ? undefined : tokens.read(list, query.page_token);
  const states = query.ready === undefined ? [] : await Promise.all(objects.map(async (object) => stateOf(object)));
  const wanted = query.ready === undefined ? objects : objects.filter((_, index) => states[index]?.ready === query.ready);
  const { items, next } = pageOf(wanted, query.page_size, position);
  return { items, next_page_token: next === undefined ? null : tokens.write(list, next), total: wanted.length };
}
