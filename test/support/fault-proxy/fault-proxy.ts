/**
 * Stands before an API server and injects the faults that a test asks for. Behind it is the real one, or a function that answers in its
 * place where a test is about HTTP and needs no server.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { KubeConfig } from '@kubernetes/client-node';
import { Agent, request as send, type Dispatcher } from 'undici';

import { loadKubeConfig } from '../../../kube/index.ts';
import { Faults, type Fault, type SeenRequest } from './faults.ts';

interface ReceivedRequest extends SeenRequest {
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** Answers a request; a watch that gets no answer stays open and says nothing. */
export type FaultAnswer = (request: ReceivedRequest) => { readonly code?: number; readonly body: object } | undefined;

export interface FaultProxy {
  readonly server: string;
  /** Kubeconfig that leads through the proxy, with the rights of the one behind it. */
  readonly kubeConfig: KubeConfig;
  readonly faults: Faults;
  /** All requests, in the order in which they came. */
  readonly requests: ReceivedRequest[];
  /** Number of open watches. */
  readonly watches: number;
  /** Resets the connections of the open watches. */
  breakWatches(): void;
  stop(): Promise<void>;
}

/** @param behind path of a kubeconfig, or a function that answers instead of a server */
export async function startFaultProxy(behind: string | FaultAnswer): Promise<FaultProxy> {
  const faults = new Faults();
  const requests: ReceivedRequest[] = [];
  const watches = new Set<ServerResponse>();
  const upstream = typeof behind === 'string' ? new Upstream(behind) : undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const seen = describeRequest(request, raw);
    requests.push(seen);
    const fault = faults.takeForRequest(seen);
    if (fault?.kind === 'drop') return void request.socket.destroy();
    if (fault?.kind === 'reset') return void request.socket.resetAndDestroy();
    if (fault?.kind === 'status') return refuse(response, fault);
    if (fault?.kind === 'hold') await fault.until;
    if (seen.watch) {
      watches.add(response);
      response.once('close', () => watches.delete(response));
    }
    if (upstream === undefined) return answer(response, (behind as FaultAnswer)(seen), seen, fault);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { statusCode, headers, body } = await upstream.send(request, raw, gone.signal);
    if (seen.watch && statusCode === 200) return relayWatch(body, response, () => faults.takeForEvent(seen));
    for (const name of ['content-type', 'retry-after', 'warning']) {
      const value = headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    finish(response.writeHead(statusCode), await body.text(), fault);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'proxy', server: address, skipTLSVerify: true }, { name: 'test' });
  return {
    server: address,
    kubeConfig,
    faults,
    requests,
    get watches() {
      return watches.size;
    },
    breakWatches: () => watches.forEach((watch) => watch.socket?.resetAndDestroy()),
    async stop() {
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
      await upstream?.close();
    },
  };
}

/** Calls the API server of a kubeconfig with its credentials. */
class Upstream {
  readonly #server: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(path: string) {
    const config = loadKubeConfig({ path });
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error(`${path} names no cluster`);
    this.#server = cluster.server;
    this.#token = config.getCurrentUser()?.token ?? '';
    this.#agent = new Agent({ connect: { ca: Buffer.from(cluster.caData ?? '', 'base64').toString() } });
  }

  send({ method, url, headers }: IncomingMessage, body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const kept = Object.fromEntries(
      ['accept', 'content-type', 'user-agent'].flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
    );
    return send(`${this.#server}${url}`, {
      method: method as Dispatcher.HttpMethod,
      headers: { ...kept, authorization: `Bearer ${this.#token}` },
      body: body === '' ? null : body,
      dispatcher: this.#agent,
      bodyTimeout: 0,
      signal,
    });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Sends the events of a watch on, each with the fault that is planned for it. */
async function relayWatch(body: AsyncIterable<Buffer>, response: ServerResponse, takeFault: () => Fault | undefined): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  let held = '';
  for await (const line of linesOf(body)) {
    const fault = line.startsWith('{"type":"BOOKMARK"') ? undefined : takeFault();
    if (fault?.kind === 'reset' || fault?.kind === 'drop') return void response.socket?.resetAndDestroy();
    if (fault?.kind === 'half-write') return halfOf(response, line);
    if (fault?.kind === 'error-event') return void response.end(`${JSON.stringify({ type: 'ERROR', object: statusOf(fault) })}\n`);
    if (fault?.kind === 'hold') await fault.until;
    if (fault?.kind === 'reorder') held = line;
    else {
      response.write(fault?.kind === 'duplicate' ? line + line : line + held);
      held = '';
    }
  }
  response.end();
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield `${line}\n`;
  }
}

function answer(response: ServerResponse, answered: ReturnType<FaultAnswer>, seen: SeenRequest, fault: Fault | undefined): void {
  if (answered !== undefined) {
    finish(response.writeHead(answered.code ?? 200, { 'content-type': 'application/json' }), JSON.stringify(answered.body), fault);
  } else if (seen.watch) response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  else refuse(response, { code: 404, reason: 'NotFound' });
}

function finish(response: ServerResponse, body: string, fault: Fault | undefined): void {
  if (fault?.kind === 'half-write') halfOf(response, body);
  else response.end(body);
}

function halfOf(response: ServerResponse, body: string): void {
  response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy());
}

interface Refusal {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const { code, retryAfterSeconds } = refusal;
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  response.writeHead(code, { 'content-type': 'application/json', ...retryAfter }).end(JSON.stringify(statusOf(refusal)));
}

/** Returns the `Status` object that an API server refuses with. */
function statusOf({ code, reason = REASONS[code], message = `${code}, on purpose`, retryAfterSeconds }: Refusal): object {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message, ...details };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

function describeRequest({ method = '', url = '/', headers }: IncomingMessage, body: string): ReceivedRequest {
  const { pathname, searchParams } = new URL(url, 'http://proxy');
  const query = Object.fromEntries(searchParams);
  const watch = query['watch'] === 'true';
  return { method, path: pathname, query, watch, authorization: headers.authorization, body: parsed(body) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
