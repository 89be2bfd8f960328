/** Get and list, with pages. */
import type { Matcher } from './selectors.ts';
import { groupResource, typeMeta, type Target } from './object-parts.ts';
import { badRequest, notFound, RefusalError } from './refusal.ts';
import type { Served } from './resource.ts';
import type { Json } from './schema.ts';
import type { Store } from './store.ts';

interface Snapshot {
  readonly revision: number;
  readonly items: readonly Json[];
}

export interface ListRequest {
  readonly resource: Served;
  readonly namespace: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly matches: Matcher;
}

export class Reads {
  readonly #store: Store;
  /** Pages of one list come from one state. */
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(options: { readonly store: Store }) {
    this.#store = options.store;
  }

  get(target: Target): Json {
    const object = this.#store.get(groupResource(target.resource), `${target.namespace ?? ''}/${target.name}`);
    if (object === undefined) throw notFound(groupResource(target.resource), target.name);
    return object;
  }

  list(request: ListRequest): Json {
    const { resource, namespace, query, matches } = request;
    const limit = Number(query['limit'] ?? 0);
    const asked = Number(query['resourceVersion'] ?? 0);
    if (query['continue'] && asked > 0) throw badRequest('specifying resource version is not allowed when using continue');
    if (asked > this.#store.revision) {
      const message = `Timeout: Too large resource version: ${asked}, current: ${this.#store.revision}`;
      throw new RefusalError({
        code: 504,
        reason: 'Timeout',
        message,
        retryAfterSeconds: 1,
        causes: [{ reason: 'ResourceVersionTooLarge', field: '', message: 'Too large resource version' }],
      });
    }
    const { revision, start } = query['continue'] ? parseToken(query['continue']) : { revision: this.#store.revision, start: 0 };
    const id = `${groupResource(resource)} ${namespace ?? ''} ${revision}`;
    const snapshot = query['continue']
      ? this.#snapshots.get(id)
      : { revision, items: this.#store.list(groupResource(resource), namespace) };
    if (snapshot === undefined || revision < this.#store.compacted) {
      throw new RefusalError({
        code: 410,
        reason: 'Expired',
        message:
          'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
      });
    }
    // A selector is applied to what is read until the page is full, so a token counts objects, matching or not.
    const items: Json[] = [];
    let index = start;
    for (; index < snapshot.items.length; index++) {
      if (limit > 0 && items.length === limit) break;
      const item = snapshot.items[index] as Json;
      if (matches(item)) items.push(item);
    }
    const left = snapshot.items.length - index;
    if (left > 0) this.#snapshots.set(id, snapshot);
    const unfiltered = query['labelSelector'] === undefined && query['fieldSelector'] === undefined;
    return {
      apiVersion: typeMeta(resource)['apiVersion'],
      kind: `${resource.descriptor.kind}List`,
      metadata: {
        resourceVersion: String(revision),
        ...(left > 0 ? { continue: token(revision, index), ...(unfiltered ? { remainingItemCount: left } : {}) } : {}),
      },
      items,
    };
  }
}

function token(revision: number, start: number): string {
  return Buffer.from(JSON.stringify({ v: 'double/v1', revision, start })).toString('base64url');
}

function parseToken(text: string): { readonly revision: number; readonly start: number } {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as { revision: number; start: number };
  } catch {
    throw badRequest('invalid continue token: continue key is not valid');
  }
}
