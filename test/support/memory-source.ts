import { KubeError } from '../../kube/error.ts';
import type { ListOptions, ResourcePage, WatchOptions } from '../../kube/resource-client.ts';
import { keyOf, type KubeObject, type Stored } from '../../kube/types.ts';
import type { WatchEvent, WatchStream } from '../../kube/watch-stream.ts';

export interface MemoryObject extends KubeObject {
  readonly value: number;
}

type Event = WatchEvent<MemoryObject>;

/**
 * Plays the part of an API server that a reflector talks to, without a network and without time of its own: a versioned store with a
 * history that can be compacted, and faults on demand. It keeps to two rules: a WatchList is the state and its bookmark; a watch is the
 * history after a position, in order.
 */
export class MemorySource {
  /** Says how the server takes a WatchList. */
  watchLists: 'served' | 'refused' | 'failing-in-stream' = 'served';
  /** Says where a position that is too old is refused. */
  expiry: 'status' | 'in-stream' = 'status';
  readonly calls: string[] = [];
  readonly #objects = new Map<string, Stored<MemoryObject>>();
  readonly #history: { readonly version: number; readonly event: Event }[] = [];
  readonly #streams = new Set<MemoryStream>();
  readonly #snapshots = new Map<string, { readonly items: readonly Stored<MemoryObject>[]; readonly version: number }>();
  readonly #failures: KubeError[] = [];
  #version = 100;
  #compacted = 100;

  get resourceVersion(): string {
    return String(this.#version);
  }

  /** Returns `name resourceVersion` of each object, sorted. */
  get state(): readonly string[] {
    return [...this.#objects.values()].map((object) => `${object.metadata.name} ${object.metadata.resourceVersion}`).sort();
  }

  get openWatches(): number {
    return this.#streams.size;
  }

  put(name: string, value: number): void {
    const old = this.#objects.get(`ns/${name}`);
    const version = String(++this.#version);
    const metadata = {
      namespace: 'ns',
      name,
      uid: old?.metadata.uid ?? `${name}-${version}`,
      resourceVersion: version,
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    const object: Stored<MemoryObject> = { apiVersion: 'example.com/v1', kind: 'Widget', metadata, value };
    this.#objects.set(keyOf(object), object);
    this.#publish({ type: old ? 'MODIFIED' : 'ADDED', object });
  }

  delete(name: string): void {
    const old = this.#objects.get(`ns/${name}`);
    if (!old) return;
    this.#objects.delete(`ns/${name}`);
    this.#publish({ type: 'DELETED', object: { ...old, metadata: { ...old.metadata, resourceVersion: String(++this.#version) } } });
  }

  /** Forgets the history up to now, and the snapshots behind pages. */
  compact(): void {
    this.#compacted = this.#version;
    this.#snapshots.clear();
  }

  /** Replaces the store by an older copy of itself. */
  rewind(by: number): void {
    this.#version -= by;
    this.#compacted = this.#version;
    this.#snapshots.clear();
  }

  bookmark(): void {
    this.#send({ type: 'BOOKMARK', resourceVersion: this.resourceVersion, initialEventsEnd: false });
  }

  /** Sends the last event again. */
  repeat(): void {
    const last = this.#history.at(-1);
    if (last) this.#send(last.event);
  }

  /** Makes the next requests fail with these. */
  failNext(...codes: readonly number[]): void {
    for (const code of codes) this.#failures.push(errorOf(code));
  }

  /** Breaks the open watches: with 0 as a lost connection does, otherwise with an ERROR in the stream. */
  breakWatches(code: number): void {
    for (const stream of this.#streams) stream.fail(errorOf(code));
  }

  /** Ends the open watches in order, as their timeout does. */
  endWatches(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Keeps the open watches open, and sends them nothing any more. */
  silence(): void {
    for (const stream of this.#streams) stream.silent = true;
  }

  heal(): void {
    this.#failures.length = 0;
  }

  async list(options: ListOptions = {}): Promise<ResourcePage<MemoryObject>> {
    this.calls.push(options.continue === undefined ? 'list' : 'list more');
    this.#failIfPlanned();
    const { limit = 2, continue: token } = options;
    const [id = '', from = '0'] = token?.split(':') ?? [];
    const snapshot = token === undefined ? { items: [...this.#objects.values()], version: this.#version } : this.#snapshots.get(id);
    if (!snapshot) throw errorOf(410);
    const start = Number(from);
    // Pages are small, whatever was asked for: a server may send fewer.
    const end = start + Math.min(limit, 2);
    this.#snapshots.set(String(snapshot.version), snapshot);
    const more = end < snapshot.items.length ? { continue: `${snapshot.version}:${end}` } : {};
    return { items: snapshot.items.slice(start, end), resourceVersion: String(snapshot.version), ...more };
  }

  async watch(options: WatchOptions = {}): Promise<WatchStream<MemoryObject>> {
    this.calls.push(options.sendInitialEvents ? 'watch-list' : `watch ${options.resourceVersion}`);
    this.#failIfPlanned();
    if (options.sendInitialEvents && this.watchLists === 'refused') throw errorOf(422);
    const stream = new MemoryStream(options, () => this.#streams.delete(stream));
    const expired = options.resourceVersion !== undefined && Number(options.resourceVersion) < this.#compacted;
    if (expired && this.expiry === 'status') throw errorOf(410);
    this.#streams.add(stream);
    if (expired) stream.fail(errorOf(410));
    else if (options.sendInitialEvents && this.watchLists === 'failing-in-stream') {
      stream.fail(
        new KubeError({
          code: 500,
          reason: 'InternalError',
          message: 'etcd cluster is not healthy: required storage feature RequestWatchProgress is disabled',
        }),
      );
    } else if (options.sendInitialEvents) {
      for (const object of this.#objects.values()) stream.push({ type: 'ADDED', object });
      stream.push({ type: 'BOOKMARK', resourceVersion: this.resourceVersion, initialEventsEnd: true });
    } else {
      for (const { version, event } of this.#history) if (version > Number(options.resourceVersion)) stream.push(event);
    }
    return stream;
  }

  #publish(event: Event): void {
    this.#history.push({ version: this.#version, event });
    this.#send(event);
  }

  #send(event: Event): void {
    for (const stream of this.#streams) if (this.#version > stream.from) stream.push(event);
  }

  #failIfPlanned(): void {
    const failure = this.#failures.shift();
    if (failure) throw failure;
  }
}

class MemoryStream implements WatchStream<MemoryObject> {
  silent = false;
  /** Position after which the server sends events, also where it has yet to come that far. */
  readonly from: number;
  readonly #options: WatchOptions;
  readonly #onClose: () => void;
  readonly #events: Event[] = [];
  #over: 'ended' | KubeError | undefined;
  #wake: (() => void) | undefined;

  constructor(options: WatchOptions, onClose: () => void) {
    this.from = Number(options.resourceVersion ?? 0);
    this.#options = options;
    this.#onClose = onClose;
    options.signal?.addEventListener('abort', () => this.destroy(), { once: true });
  }

  push(event: Event): void {
    if (this.silent) return;
    // The event is a copy of its own, like one that was parsed: the reader may freeze it.
    this.#events.push(structuredClone(event));
    this.#options.onBytes?.(1);
    this.#wake?.();
  }

  end(): void {
    this.#finish('ended');
  }

  fail(error: KubeError): void {
    this.#finish(error);
  }

  destroy(): void {
    this.#events.length = 0;
    this.#finish(new KubeError({ code: 0, reason: 'Aborted', message: 'the watch was aborted' }));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event) yield event;
        else if (this.#over === 'ended') return;
        else if (this.#over) throw this.#over;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.#onClose();
    }
  }

  #finish(how: 'ended' | KubeError): void {
    if (this.silent && !(how !== 'ended' && how.reason === 'Aborted')) return;
    this.#over ??= how;
    this.#onClose();
    this.#wake?.();
  }
}

function errorOf(code: number): KubeError {
  const reason =
    {
      0: 'Unreachable',
      401: 'Unauthorized',
      403: 'Forbidden',
      410: 'Expired',
      422: 'Invalid',
      429: 'TooManyRequests',
      503: 'ServiceUnavailable',
    }[code] ?? 'InternalError';
  return new KubeError({ code, reason, message: `${code} ${reason}` });
}
