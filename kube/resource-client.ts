import { KubeError } from './error.ts';
import type { KubeRequest, Transport } from './transport.ts';
import { apiVersionOf, type KubeObject, type ResourceDescriptor, type Stored } from './types.ts';
import { watchStream, type WatchStream } from './watch-stream.ts';
import { present } from '../platform/present.ts';

export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

export interface ResourceClientOptions {
  readonly transport: Transport;
  readonly descriptor: ResourceDescriptor;
  /** Manager that owns the fields that are written. */
  readonly fieldManager: string;
  /** Ask for metadata only (PartialObjectMetadata): spec, status and data never reach this process. Writes are refused. */
  readonly metadataOnly?: boolean;
}

export interface KubeRequestOptions {
  /** Longest time for the request, in milliseconds, retries included. Default: 30,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ListOptions extends KubeRequestOptions {
  /** The namespace to list or watch; all namespaces where absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  /** Token from the page before. */
  readonly continue?: string;
  /** `'0'`: from the server's cache, of any age. Absent: the newest. */
  readonly resourceVersion?: string;
  /** `Exact`: the very state of that moment, which the server remembers for some minutes. Default: that state or a newer one. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ResourcePage<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  readonly resourceVersion: string;
  /** Token for the next `list`; present if there is more. */
  readonly continue?: string;
}

export interface WatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Events begin after this version; with `sendInitialEvents` they begin with a state at least as new. */
  readonly resourceVersion?: string;
  /** A WatchList: the objects that exist come first, as ADDED, then a BOOKMARK with `initialEventsEnd`. */
  readonly sendInitialEvents?: boolean;
  /** The server ends the watch after this long, in seconds. */
  readonly timeoutSeconds?: number;
  /** Longest wait for the answer's headers, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Called for every chunk that arrives: a sign of life. */
  readonly onBytes?: (bytes: number) => void;
}

interface MergePatch {
  readonly metadata?: object;
  readonly spec?: object;
  readonly data?: object;
}

interface WriteOptions extends KubeRequestOptions {
  /** Change nothing, answer as if. Default: false. */
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields that other managers own. Default: false. */
  readonly force?: boolean;
}

export interface DeleteOptions extends WriteOptions {
  /** Delete only this very object: 409 for its namesake. */
  readonly uid?: string;
  /** Delete only this very state: 409 when it changed. */
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
}

/** No object has this version: etcd counts from 1, and begins empty. */
const RESOURCE_VERSION_OF_NONE = '1';

/** Objects per page of {@link ResourceClient.listAll}: as large as client-go's. */
const PAGE_SIZE = 500;

const METADATA_ACCEPT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST_ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Reads and writes objects of one kind. Every method throws {@link KubeError}.
 * Writes are validated strictly: a field the server doesn't know is refused, never dropped.
 */
export class ResourceClient<T extends KubeObject> {
  readonly descriptor: ResourceDescriptor;
  readonly fieldManager: string;
  readonly metadataOnly: boolean;
  readonly #transport: Transport;
  readonly #apiVersion: string;

  constructor(options: ResourceClientOptions) {
    this.descriptor = options.descriptor;
    this.fieldManager = options.fieldManager;
    this.metadataOnly = options.metadataOnly ?? false;
    this.#transport = options.transport;
    this.#apiVersion = apiVersionOf(options.descriptor);
  }

  async get(ref: ObjectRef, options: KubeRequestOptions = {}): Promise<Stored<T>> {
    return this.#transport.request<Stored<T>>({
      method: 'GET',
      path: this.#path(ref.namespace, ref.name),
      ...(this.metadataOnly ? { accept: METADATA_ACCEPT } : {}),
      ...common(options),
    });
  }

  /** Lists one page. The items carry `apiVersion` and `kind`, which the server leaves out of them. */
  async list(options: ListOptions = {}): Promise<ResourcePage<T>> {
    const answer = await this.#transport.request<ListAnswer<T>>({
      method: 'GET',
      path: this.#path(options.namespace),
      query: {
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
        limit: options.limit,
        continue: options.continue,
        // A continue token carries its own resourceVersion: the server refuses a second one.
        ...(options.continue === undefined
          ? { resourceVersion: options.resourceVersion, resourceVersionMatch: options.resourceVersionMatch }
          : {}),
      },
      ...(this.metadataOnly ? { accept: METADATA_LIST_ACCEPT } : {}),
      ...common(options),
    });
    const next = answer.metadata.continue;
    const items = answer.items ?? [];
    // No other code holds these objects yet: filling them in beats copying a page of them.
    for (const item of items) if (item.kind === undefined) Object.assign(item, this.#typeMeta());
    return {
      items,
      resourceVersion: answer.metadata.resourceVersion,
      ...(next ? { continue: next } : {}),
    };
  }

  /** Lists all pages, each of {@link ListOptions.limit} (default: 500) objects. A 410 `Expired` between two pages is the caller's: list again. */
  async listAll(options: Omit<ListOptions, 'continue'> = {}): Promise<ResourcePage<T>> {
    const items: Stored<T>[] = [];
    let page = await this.list({ limit: PAGE_SIZE, ...options });
    items.push(...page.items);
    while (page.continue !== undefined) {
      page = await this.list({ limit: PAGE_SIZE, ...options, continue: page.continue });
      items.push(...page.items);
    }
    return { items, resourceVersion: page.resourceVersion };
  }

  /** Opens a watch; resolves when the server has accepted it. Bookmarks are asked for always. */
  async watch(options: WatchOptions = {}): Promise<WatchStream<T>> {
    const path = this.#path(options.namespace);
    const stream = await this.#transport.stream({
      method: 'GET',
      path,
      query: {
        watch: true,
        allowWatchBookmarks: true,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
        resourceVersion: options.resourceVersion,
        ...(options.sendInitialEvents === undefined
          ? {}
          : { sendInitialEvents: options.sendInitialEvents, resourceVersionMatch: 'NotOlderThan' }),
        timeoutSeconds: options.timeoutSeconds,
      },
      ...(this.metadataOnly ? { accept: METADATA_ACCEPT } : {}),
      ...common(options),
    });
    return watchStream<T>({ stream, what: `watch of ${path}`, onBytes: options.onBytes });
  }

  /**
   * Server-side apply: creates the object, or makes the fields in it this manager's and removes those it owned before and left out.
   * With `metadata.uid` it never creates: 409 when the object is gone. With `metadata.resourceVersion` 409 when it changed
   * (`error.staleConflict`), and 409 with causes where another manager owns a field (`error.ownershipConflict`).
   */
  async apply(object: T, options: ApplyOptions = {}): Promise<Stored<T>> {
    return this.#apply(this.#path(object.metadata.namespace, object.metadata.name), object, { force: false, ...options });
  }

  /**
   * Creates an object as {@link apply} does, and never changes one: 409 (`error.staleConflict`) where there is one. It is not sent again
   * after a lost answer: it would find the object that it has made itself.
   */
  async applyNew(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const { metadata } = object;
    const made = { ...object, metadata: { ...metadata, resourceVersion: RESOURCE_VERSION_OF_NONE } };
    // Without force an object of another manager would be answered as a conflict of owners.
    return this.#apply(this.#path(metadata.namespace, metadata.name), made, { ...options, force: true }, false);
  }

  /** Server-side apply to the status subresource; takes other managers' fields by default. 404 when the object is gone. */
  async applyStatus(object: T, options: ApplyOptions = {}): Promise<Stored<T>> {
    return this.#apply(`${this.#path(object.metadata.namespace, object.metadata.name)}/status`, object, { force: true, ...options });
  }

  /** Replaces the finalizers of the very state that was read: 409 (`error.staleConflict`) when it changed since. */
  async patchFinalizers(stored: Stored<T>, finalizers: readonly string[], options: KubeRequestOptions = {}): Promise<Stored<T>> {
    return this.mergePatch(stored, { metadata: { finalizers } }, options);
  }

  /** As {@link patch}, of the very state that was read: 409 (`error.staleConflict`) when it changed since. */
  async mergePatch({ metadata }: Stored<T>, patch: MergePatch, options: KubeRequestOptions = {}): Promise<Stored<T>> {
    const { uid, resourceVersion } = metadata;
    return this.patch(metadata, { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } }, options);
  }

  /** JSON merge patch: members come, change and, with `null`, go, whatever happens to the others meanwhile. 404 when the object is gone. */
  async patch(
    { namespace, name }: Pick<KubeObject['metadata'], 'namespace' | 'name'>,
    patch: MergePatch,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    const contentType = 'application/merge-patch+json';
    return this.#write('PATCH', this.#path(namespace, name), { contentType, body: patch, idempotent: true }, options);
  }

  /** Creates an object; 409 `AlreadyExists` when there is one. A later apply by the same manager conflicts with it: prefer {@link applyNew}. */
  async create(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    return this.#write('POST', this.#path(object.metadata.namespace), { body: { ...this.#typeMeta(), ...object } }, options);
  }

  /** Replaces the whole object; with `metadata.resourceVersion` only the very state that was read. */
  async update(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const { namespace, name } = object.metadata;
    return this.#write('PUT', this.#path(namespace, name), { body: { ...this.#typeMeta(), ...object } }, options);
  }

  /** Resolves when the server has taken it: an object with finalizers is still there, with a deletionTimestamp. 404 when it does not exist. */
  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, propagationPolicy } = options;
    const preconditions = present({ uid, resourceVersion });
    const guarded = Object.keys(preconditions).length > 0;
    await this.#transport.request<unknown>({
      method: 'DELETE',
      path: this.#path(ref.namespace, ref.name),
      body: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...(guarded ? { preconditions } : {}),
        ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
        ...(options.dryRun ? { dryRun: ['All'] } : {}),
      },
      idempotent: guarded,
      ...common(options),
    });
  }

  async #apply(path: string, object: T, options: ApplyOptions, idempotent = true): Promise<Stored<T>> {
    // JSON is YAML. managedFields must not be sent: the server refuses an apply that names its own bookkeeping.
    const contentType = 'application/apply-patch+yaml';
    const body = { ...this.#typeMeta(), ...object, metadata: { ...object.metadata, managedFields: undefined } };
    return this.#write('PATCH', path, { contentType, body, idempotent, query: { force: options.force } }, options);
  }

  async #write(
    method: KubeRequest['method'],
    path: string,
    request: Pick<KubeRequest, 'query' | 'contentType' | 'body' | 'idempotent'>,
    options: WriteOptions,
  ): Promise<Stored<T>> {
    if (this.metadataOnly)
      throw new KubeError({ code: 405, reason: 'MethodNotAllowed', message: `${method} ${path}: this client reads metadata only` });
    const dryRun = options.dryRun ? 'All' : undefined;
    const query = { ...request.query, fieldManager: this.fieldManager, fieldValidation: 'Strict', dryRun };
    return this.#transport.request<Stored<T>>({ ...request, method, path, query, ...common(options) });
  }

  #typeMeta(): { readonly apiVersion: string; readonly kind: string } {
    return { apiVersion: this.#apiVersion, kind: this.descriptor.kind };
  }

  #path(namespace: string | undefined, name?: string): string {
    const { group, version, plural, namespaced } = this.descriptor;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    if (namespaced && name !== undefined && namespace === undefined) {
      throw new KubeError({ code: 400, reason: 'BadRequest', message: `${plural} "${name}": the namespace is missing` });
    }
    const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    return `${root}${scope}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
  }
}

interface ListAnswer<T extends KubeObject> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Stored<T>[] | null;
}

const common = ({ timeoutMs, signal }: KubeRequestOptions) => present({ timeoutMs, signal });
