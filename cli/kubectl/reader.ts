/** Reads with the permissions of whoever asks: what may not be seen is noted, and is no failure. */
import { KubeError, ResourceClient, type KubeObject, type ResourceDescriptor, type Stored, type Transport } from '../../kube/index.ts';

export interface ListFilter {
  /** All namespaces where absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Values never enter memory: for Secrets. */
  readonly metadataOnly?: boolean;
}

export class Reader {
  readonly transport: Transport;
  readonly #notes = new Set<string>();
  /** What may not be listed, by where. */
  readonly #unlisted = new Map<string, Set<string>>();

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** What could not be looked at, and why, each once. */
  get notes(): readonly string[] {
    const unlisted = [...this.#unlisted].map(([where, plurals]) => `you may not list ${[...plurals].sort().join(', ')}${where}`);
    return [...unlisted, ...this.#notes];
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  /** `undefined` where that may not be seen, or is nothing that the cluster knows. */
  async list<T extends KubeObject>(descriptor: ResourceDescriptor, filter: ListFilter = {}): Promise<readonly Stored<T>[] | undefined> {
    const { namespace, metadataOnly = false, ...selectors } = filter;
    const client = new ResourceClient<T>({ transport: this.transport, descriptor, fieldManager: 'parley-cli', metadataOnly });
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

  /** `undefined` where there is none; `'refused'`, with a note, where it may not be seen. */
  async get<T extends object>(path: string, what: string): Promise<T | 'refused' | undefined> {
    try {
      return await this.transport.request<T>({ method: 'GET', path });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.notFound) return undefined;
      if (error.code !== 403) throw error;
      this.note(`you may not read ${what}`);
      return 'refused';
    }
  }
}
