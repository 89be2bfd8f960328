/** One watch: what was missed, then what happens, as lines of JSON. */
import type { ServerResponse } from 'node:http';

import type { Faults, SeenRequest } from './faults.ts';
import { groupResource, typeMeta } from './object-parts.ts';
import { badRequest, invalid, RefusalError } from './refusal.ts';
import type { Served } from './resource.ts';
import type { Json } from './schema.ts';
import type { Matcher } from './selectors.ts';
import type { Change, Store } from './store.ts';

export interface WatchRequest {
  readonly resource: Served;
  readonly namespace: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly seen: SeenRequest;
  readonly matches: Matcher;
  /** What the client asked objects to look like, e.g. metadata only. */
  readonly view: (object: Json) => Json;
}

export interface WatchOptions extends WatchRequest {
  readonly store: Store;
  readonly faults: Faults;
  readonly response: ServerResponse;
  /** False plays an API server on an etcd without progress notifications. */
  readonly watchList: boolean;
}

/** @throws Refusal where the request is refused as a whole. */
export function checkWatch(query: Readonly<Record<string, string>>): void {
  const { sendInitialEvents, resourceVersionMatch, resourceVersion = '' } = query;
  if (sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan') {
    const message = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    throw invalid('ListOptions.meta.k8s.io', '', [{ reason: 'FieldValueForbidden', field: 'resourceVersionMatch', message }]);
  }
  if (!/^\d*$/.test(resourceVersion)) throw badRequest(`Invalid value: ${JSON.stringify(resourceVersion)}`);
}

export class Watch {
  readonly #options: WatchOptions;
  readonly #unsubscribe: () => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #held: string | undefined;
  /** Events wait for each other while one is delayed. */
  #queue: Promise<void> = Promise.resolve();
  #delayed = 0;
  #started = false;
  #backlog: Change[] = [];

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.subscribe((change) => (this.#started ? this.#change(change) : this.#backlog.push(change)));
    options.response.on('close', () => this.#stop());
    const seconds = Number(options.query['timeoutSeconds'] ?? 0);
    this.#timer = seconds > 0 ? setTimeout(() => this.end(), seconds * 1000).unref() : undefined;
    options.response.writeHead(200, { 'content-type': 'application/json' });
    options.response.flushHeaders();
    try {
      this.#start();
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      this.#write('ERROR', error.status);
      this.end();
    }
  }

  /** The server ends the watch in order. */
  end(): void {
    this.#stop();
    this.#options.response.end();
  }

  bookmark(annotations?: Readonly<Record<string, string>>): void {
    if (this.#options.query['allowWatchBookmarks'] !== 'true') return;
    const metadata = {
      resourceVersion: String(this.#options.store.revision),
      creationTimestamp: null,
      ...(annotations === undefined ? {} : { annotations }),
    };
    this.#send('BOOKMARK', { ...typeMeta(this.#options.resource), metadata });
  }

  #start(): void {
    const { store, resource, namespace, query, matches, watchList } = this.#options;
    const resourceVersion = query['resourceVersion'] ?? '';
    // A watch from nowhere is a WatchList to servers that have it, whether asked for or not.
    const fromNowhere = query['sendInitialEvents'] === undefined && (resourceVersion === '' || resourceVersion === '0');
    const list = query['sendInitialEvents'] === 'true' || (fromNowhere && watchList);
    if (list && !watchList) {
      throw new RefusalError({
        code: 500,
        reason: 'InternalError',
        message: 'a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled',
      });
    }
    if (list || fromNowhere) {
      for (const object of store.list(groupResource(resource), namespace)) if (matches(object)) this.#send('ADDED', object);
      if (list) this.bookmark({ 'k8s.io/initial-events-end': 'true' });
    } else if (resourceVersion !== '') {
      for (const change of store.since(groupResource(resource), Number(resourceVersion))) this.#change(change);
    }
    this.#started = true;
    for (const change of this.#backlog) this.#change(change);
    this.#backlog = [];
  }

  /** A change as this watch sees it: an object that comes to match was added, one that ceases to match was deleted. */
  #change(change: Change): void {
    const { resource, namespace, matches } = this.#options;
    if (change.resource !== groupResource(resource)) return;
    if (namespace !== undefined && (change.object['metadata'] as Json)['namespace'] !== namespace) return;
    const was = change.previous !== undefined && matches(change.previous);
    const is = change.type !== 'DELETED' && matches(change.object);
    if (was && !is) this.#send('DELETED', change.object);
    else if (is) this.#send(was ? 'MODIFIED' : 'ADDED', change.object);
  }

  #send(type: string, object: Json): void {
    const fault = type === 'BOOKMARK' ? undefined : this.#options.faults.takeForEvent(this.#options.seen);
    const line = `${JSON.stringify({ type, object: this.#options.view(object) })}\n`;
    if (fault?.kind === 'delay') {
      this.#delayed++;
      const { ms } = fault;
      const before = this.#queue;
      this.#queue = (async () => {
        await before;
        await new Promise((resolve) => setTimeout(resolve, ms).unref());
        this.#delayed--;
        this.#raw(line);
      })();
      return;
    }
    const now = (): void => {
      switch (fault?.kind) {
        case 'drop':
        case 'reset':
          return this.#reset();
        case 'half-write':
          this.#options.response.write(line.slice(0, line.length / 2), () => this.#reset());
          return;
        case 'error-event':
          this.#write(
            'ERROR',
            new RefusalError({ code: fault.code, reason: fault.reason, message: fault.message ?? `${fault.reason}, on purpose` }).status,
          );
          return this.end();
        case 'reorder':
          this.#held = line;
          return;
        case 'duplicate':
          this.#raw(line + line);
          return;
        default:
          this.#raw(line);
      }
    };
    if (this.#delayed > 0) this.#queue = this.#queue.then(now);
    else now();
  }

  #raw(line: string): void {
    if (this.#options.response.destroyed || this.#options.response.writableEnded) return;
    this.#options.response.write(line + (this.#held ?? ''));
    this.#held = undefined;
  }

  #write(type: string, object: object): void {
    this.#options.response.write(`${JSON.stringify({ type, object })}\n`);
  }

  #reset(): void {
    this.#stop();
    this.#options.response.socket?.resetAndDestroy();
  }

  #stop(): void {
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }
}
