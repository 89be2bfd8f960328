/** Answers one request of a client, by the verb. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { parse as parseYaml } from 'yaml';

import type { Faults, SeenRequest } from './faults.ts';
import type { Target } from './object-parts.ts';
import { Reads } from './reads.ts';
import { badRequest, RefusalError } from './refusal.ts';
import type { Served } from './resource.ts';
import { route, type Route } from './route.ts';
import { isObject, type Json } from './schema.ts';
import { fieldMatcher, labelMatcher, type Matcher } from './selectors.ts';
import type { Store } from './store.ts';
import { checkWatch, Watch } from './watch.ts';
import type { WriteOptions, WriteResult, Writes } from './writes.ts';

const bodyLimit = 3 * 1024 * 1024;

export interface HandlerOptions {
  readonly store: Store;
  readonly writes: Writes;
  readonly resources: readonly Served[];
  readonly faults: Faults;
  readonly watches: Set<Watch>;
  readonly watchList: boolean;
}

export interface ClientRequest {
  readonly seen: SeenRequest;
  readonly body: string;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
}

interface Answer {
  readonly code: number;
  readonly body: Json;
  readonly warnings?: readonly string[];
}

export class Handler {
  readonly #options: HandlerOptions;
  readonly #reads: Reads;
  readonly #sockets = new Set<Socket>();

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#reads = new Reads({ store: options.store });
  }

  /** @param halfWrite handle it, but lose half of the answer */
  handle(request: ClientRequest, response: ServerResponse, halfWrite: boolean): void {
    this.#remember(response);
    const at = route(request.seen.path, this.#options.resources);
    if (at === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
      return;
    }
    try {
      if (request.seen.watch && request.seen.method === 'GET') return this.#watch(request, at, response);
      this.#send(response, this.#answer(request, at), halfWrite);
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      this.refuse(response, error);
    }
  }

  refuse(response: ServerResponse, refusal: RefusalError): void {
    this.#remember(response);
    const { code, retryAfterSeconds } = refusal.options;
    const headers = {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    };
    response.writeHead(code, headers).end(JSON.stringify(refusal.status));
  }

  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #answer(request: ClientRequest, at: Route): Answer {
    const { query, method } = request.seen;
    const { writes } = this.#options;
    if (Buffer.byteLength(request.body) > bodyLimit) {
      throw new RefusalError({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: limit is ${bodyLimit}` });
    }
    if (at.name === undefined) {
      if (method === 'GET')
        return { code: 200, body: viewList(this.#reads.list({ ...at, query, matches: matcher(at, query) }), request.accept) };
      if (method === 'POST') return written(writes.create({ ...at, name: '' }, parse(request.body, at), writeOptions(request)));
      throw notAllowed();
    }
    const target: Target = { ...at, name: at.name };
    switch (method) {
      case 'GET':
        return { code: 200, body: viewOf(request.accept)(this.#reads.get(target)) };
      case 'PUT':
        return written(writes.update(target, parse(request.body, at), writeOptions(request)));
      case 'PATCH':
        if (request.contentType.startsWith('application/apply-patch+yaml'))
          return written(writes.apply(target, parse(request.body, at, parseYaml), writeOptions(request)));
        if (request.contentType.startsWith('application/merge-patch+json'))
          return written(writes.patch(target, parse(request.body), writeOptions(request)));
        throw new RefusalError({
          code: 415,
          reason: 'UnsupportedMediaType',
          message: `the body of the request was in an unknown format - accepted media types include: application/merge-patch+json, application/apply-patch+yaml`,
        });
      case 'DELETE': {
        const options = request.body === '' ? {} : parse(request.body);
        const { uid, resourceVersion } = (options['preconditions'] ?? {}) as { readonly uid?: string; readonly resourceVersion?: string };
        const dryRun = query['dryRun'] === 'All' || JSON.stringify(options['dryRun']) === '["All"]';
        return { code: 200, body: writes.delete(target, { uid, resourceVersion, dryRun }) };
      }
      default:
        throw notAllowed();
    }
  }

  #watch(request: ClientRequest, at: Route, response: ServerResponse): void {
    const { query } = request.seen;
    checkWatch(query);
    const { store, faults, watchList, watches } = this.#options;
    const watch = new Watch({
      ...at,
      query,
      seen: request.seen,
      matches: matcher(at, query),
      view: viewOf(request.accept),
      store,
      faults,
      response,
      watchList,
    });
    watches.add(watch);
    response.on('close', () => watches.delete(watch));
  }

  #send(response: ServerResponse, answer: Answer, halfWrite: boolean): void {
    const text = JSON.stringify(answer.body);
    for (const warning of answer.warnings ?? []) response.appendHeader('warning', `299 - ${JSON.stringify(warning)}`);
    response.writeHead(answer.code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    if (halfWrite) response.write(text.slice(0, text.length / 2), () => response.socket?.resetAndDestroy());
    else response.end(text);
  }

  #remember(response: ServerResponse): void {
    const { socket } = response;
    if (socket === null || this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

function written(result: WriteResult): Answer {
  return { code: result.code, body: result.object, warnings: result.warnings };
}

function writeOptions(request: ClientRequest): WriteOptions {
  const { query } = request.seen;
  const apply = request.contentType.startsWith('application/apply-patch+yaml');
  return {
    // Without a field manager the server takes the program's name, but for an apply, which has to name one.
    manager: query['fieldManager'] || (apply ? '' : (request.userAgent.split('/')[0] ?? '')),
    force: query['force'] === 'true',
    dryRun: query['dryRun'] === 'All',
    strict: query['fieldValidation'] === 'Strict',
  };
}

function parse(body: string, at?: Route, read: (text: string) => unknown = JSON.parse): Json {
  let value: unknown;
  try {
    value = read(body);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw badRequest('the object provided is unrecognized');
  if (at !== undefined && value['kind'] !== at.resource.descriptor.kind)
    throw badRequest(`invalid object type: ${String(value['apiVersion'])}, Kind=${String(value['kind'])}`);
  return value;
}

function matcher(at: Route, query: Readonly<Record<string, string>>): Matcher {
  const labels = labelMatcher(query['labelSelector']);
  const fields = fieldMatcher(query['fieldSelector'], ['metadata.name', 'metadata.namespace', ...at.resource.selectableFields]);
  return (object) => labels(object) && fields(object);
}

function viewOf(accept: string): (object: Json) => Json {
  if (!accept.includes('as=PartialObjectMetadata')) return (object) => object;
  return (object) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] });
}

function viewList(list: Json, accept: string): Json {
  if (!accept.includes('as=PartialObjectMetadataList')) return list;
  const items = (list['items'] as readonly Json[]).map(viewOf(accept));
  return { ...list, kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', items };
}

function notAllowed(): RefusalError {
  return new RefusalError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
  });
}
