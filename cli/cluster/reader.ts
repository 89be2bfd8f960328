/**
 * Reads with the permissions of the user: what the user may not see becomes a note instead of a failure. One reader serves one command and
 * asks for each list once, so all parts of its output tell of the same moment.
 */
import { KubeError, ResourceClient, type KubeObject, type ResourceDescriptor, type Stored, type Transport } from '../../kube/index.ts';
import { UserError } from '../../platform/user-error.ts';
import { FIELD_MANAGER } from './connect.ts';

export interface ListFilter {
  /** Namespace to read; all of them where absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** True for Secrets: their values never enter memory. */
  readonly metadataOnly?: boolean;
}

export interface ServerVersion {
  readonly gitVersion: string;
  readonly minor: string;
}

export class Reader {
  readonly transport: Transport;
  readonly #notes = new Set<string>();
  readonly #lists = new Map<string, Promise<readonly Stored<KubeObject>[] | undefined>>();
  #version: Promise<ServerVersion> | undefined;
  /** Plural names of the kinds that may not be listed, by where. */
  readonly #unlisted = new Map<string, Set<string>>();

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Notes on what could not be looked at, and why, each once. */
  get notes(): readonly string[] {
    const unlisted = [...this.#unlisted].map(([where, plurals]) => `you may not list ${[...plurals].sort().join(', ')}${where}`);
    return [...unlisted, ...this.#notes];
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  version(): Promise<ServerVersion> {
    return (this.#version ??= this.transport.request({ method: 'GET', path: '/version', timeoutMs: 10_000 }));
  }

  /** Returns `undefined` where the list may not be seen, or the cluster doesn't know the kind. */
  list<T extends KubeObject>(descriptor: ResourceDescriptor, filter: ListFilter = {}): Promise<readonly Stored<T>[] | undefined> {
    const key = JSON.stringify([descriptor.group, descriptor.plural, filter]);
    const list = this.#lists.get(key) ?? this.#list(descriptor, filter);
    this.#lists.set(key, list);
    return list as Promise<readonly Stored<T>[] | undefined>;
  }

  async #list(descriptor: ResourceDescriptor, filter: ListFilter): Promise<readonly Stored<KubeObject>[] | undefined> {
    const { namespace, metadataOnly = false, ...selectors } = filter;
    const client = this.client(descriptor, metadataOnly);
    const where = !descriptor.namespaced ? '' : namespace === undefined ? ' in all namespaces' : ` in the namespace ${namespace}`;
    try {
      const { items } = await client.listAll({ ...selectors, ...(namespace === undefined ? {} : { namespace }) });
      return items;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 403) this.#unlisted.set(where, (this.#unlisted.get(where) ?? new Set()).add(descriptor.plural));
      else if (error.notFound) this.note(`the cluster does not know ${descriptor.plural}`);
      else throw error;
      return undefined;
    }
  }

  /** Returns `undefined` for what does not exist; `'refused'`, with a note, for what the user may not see. */
  get<T extends object>(path: string, what: string): Promise<T | 'refused' | undefined> {
    return this.allowed(what, () => this.transport.request<T>({ method: 'GET', path }));
  }

  /** Does the same for any way of reading; the note ends with `consequence`. */
  async allowed<T>(what: string, read: () => Promise<T>, consequence = ''): Promise<T | 'refused' | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.notFound) return undefined;
      if (error.code !== 403) throw error;
      this.note(`you may not read ${what}${consequence}`);
      return 'refused';
    }
  }

  client<T extends KubeObject>(descriptor: ResourceDescriptor, metadataOnly = false): ResourceClient<T> {
    return new ResourceClient<T>({ transport: this.transport, descriptor, fieldManager: FIELD_MANAGER, metadataOnly });
  }

  /** @throws UserError that names the objects of the kind that there are, when this one is missing */
  async object<T extends KubeObject>(
    descriptor: ResourceDescriptor,
    ref: { readonly namespace: string; readonly name: string },
  ): Promise<Stored<T>> {
    const client = this.client<T>(descriptor);
    try {
      return await client.get(ref);
    } catch (error) {
      if (!(error instanceof KubeError) || !error.notFound) throw error;
      const items = await client.listAll({ namespace: ref.namespace }).then(
        (found) => found.items,
        () => [],
      );
      const names = items.map(({ metadata }) => metadata.name).sort();
      throw new UserError(`there is no ${descriptor.kind} "${ref.name}" in the organisation ${ref.namespace}`, {
        cure:
          names.length === 0
            ? 'the organisation has none; name another one with -n, or check that the resource definitions are installed'
            : `it has: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}; or name another organisation with -n`,
        cause: error,
      });
    }
  }
}
