/**
 * One connection to one vetted address, for one request at a time.
 *
 * Each has its own HTTP client, which receives the open socket: so nothing queues inside the client (where a request
 * would ignore its deadline), and no other socket is used.
 */
import type { Socket } from 'node:net';

import { Client, type Dispatcher } from 'undici';

import { tooLarge } from './content-coding.ts';
import { EgressError, type EgressPhase, egressErrorOf } from './egress-error.ts';
import { skipUnaskedContinue } from './unasked-continue.ts';

export interface ExchangeRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly maxBodyBytes: number;
  readonly overflow: 'fail' | 'truncate';
  readonly onHead: (head: ResponseHead) => void;
}

export interface ResponseHead {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface ExchangeResponse extends ResponseHead {
  readonly body: Buffer;
  readonly truncated: boolean;
}

/** Longest idle time that a server may ask for, in milliseconds. Where it asks for none, the pool ends the connection before. */
const LONGEST_IDLE_MS = 600_000;

interface ConnectionOptions {
  readonly owner: string;
  readonly origin: string;
  readonly host: string;
  readonly socket: Socket;
  readonly address: string;
  readonly onClose: (connection: Connection) => void;
}

export class Connection {
  /** Owner for whom the connection was opened: it serves no other. */
  readonly owner: string;
  readonly origin: string;
  readonly address: string;
  readonly #host: string;
  readonly #client: Client;
  readonly #socket: Socket;
  #used = 0;
  #awaitsHead = false;
  #answered = false;

  /** @param options.onClose called once, when the connection can serve no further request */
  constructor(options: ConnectionOptions) {
    this.owner = options.owner;
    this.origin = options.origin;
    this.address = options.address;
    this.#host = options.host;
    this.#socket = options.socket;
    skipUnaskedContinue(options.socket, () => {
      this.#answered = true;
      return this.#awaitsHead;
    });
    let handedOut = false;
    this.#client = new Client(options.origin, {
      connect: (_options, callback) => {
        const again = handedOut;
        handedOut = true;
        // Deferred: the client misses a connection that is ready before this returns.
        queueMicrotask(() => {
          // The client asks for a new socket after this one has closed; it gets none.
          if (again) callback(Object.assign(new Error('the connection is closed'), { code: 'UND_ERR_CLOSED' }), null);
          else callback(null, options.socket);
        });
      },
      pipelining: 1,
      keepAliveTimeout: LONGEST_IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      // Both are imprecise, and the second does not stop a slow drip: the caller's deadline does.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16_384,
      allowH2: false,
    });
    this.#socket.once('close', () => {
      this.destroy();
      options.onClose(this);
    });
  }

  get open(): boolean {
    return !this.#socket.destroyed && !this.#client.destroyed;
  }

  /** True for a repeated use without a byte of an answer yet: the server may have closed the connection without reading the request. */
  get unanswered(): boolean {
    return this.#used > 1 && !this.#answered;
  }

  destroy(): void {
    if (!this.#client.destroyed) void this.#client.destroy().catch(() => undefined);
    this.#socket.destroy();
  }

  /** @throws EgressError; the connection is destroyed then, and after a body that was cut off */
  exchange(request: ExchangeRequest): Promise<ExchangeResponse> {
    this.#used += 1;
    this.#awaitsHead = true;
    this.#answered = false;
    return new Promise((resolve, reject) => {
      let phase: EgressPhase = 'head';
      let head: ResponseHead | undefined;
      const chunks: Buffer[] = [];
      let size = 0;

      const finish = (truncated: boolean): void => {
        if (head !== undefined) resolve({ ...head, body: join(chunks, size), truncated });
        if (truncated) this.destroy();
      };
      const fail = (error: unknown): void => {
        reject(egressErrorOf(error, phase, this.#host));
        this.destroy();
      };

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status, headers) => {
          if (status < 200) return;
          phase = 'body';
          this.#awaitsHead = false;
          head = { status, headers };
          request.onHead(head);
          const announced = Number(headers['content-length'] ?? 0);
          if (request.overflow === 'truncate') {
            if (request.maxBodyBytes === 0) finish(true);
          } else if (request.method !== 'HEAD' && announced > request.maxBodyBytes) fail(tooLarge(this.#host, request.maxBodyBytes));
        },
        onResponseData: (_controller, chunk) => {
          const room = request.maxBodyBytes - size;
          if (chunk.length <= room) {
            chunks.push(chunk);
            size += chunk.length;
          } else if (request.overflow === 'truncate') {
            chunks.push(chunk.subarray(0, room));
            size += room;
          } else {
            fail(tooLarge(this.#host, request.maxBodyBytes));
            return;
          }
          // The answer ends at the limit, without waiting for another byte from a slow server.
          if (request.overflow === 'truncate' && size === request.maxBodyBytes) finish(true);
        },
        onResponseEnd: () => finish(false),
        onResponseError: (_controller, error) => fail(error),
      };
      try {
        this.#client.dispatch(
          { path: request.path, method: request.method, headers: request.headers, body: bodyOf(request.body) },
          handler,
        );
      } catch (error) {
        fail(error);
      }
    });
  }
}

const bodyOf = (body: string | Uint8Array | undefined): string | Uint8Array | null => (body === undefined ? null : body);

function join(chunks: readonly Buffer[], size: number): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
}

/** Tells whether the server closed the kept connection before the first byte of an answer: most probably it was closing it already. */
export function wentStale(error: unknown, connection: Connection): boolean {
  return connection.unanswered && error instanceof EgressError && error.kind === 'reset' && error.phase === 'head';
}
