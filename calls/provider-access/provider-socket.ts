/** WebSockets to providers. Every failure becomes a {@link ProviderError} within seconds, as with {@link createProviderFetch}. */
import { on } from 'node:events';

import { WebSocket } from 'ws';

import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { causeCode, failuresOf, HEAD_TIMEOUT_MS } from './connection-failures.ts';
import type { ProviderEndpoint } from './endpoint.ts';
import type { ProviderError } from './provider-failure.ts';

export interface ProviderSocketOptions {
  readonly endpoint: Pick<ProviderEndpoint, 'part' | 'provider' | 'guarded'>;
  readonly egress: Pick<Egress, 'connect'>;
  readonly clock: Clock;
  /** Default 1 MiB. */
  readonly maxMessageBytes?: number;
}

export interface ProviderSocket {
  send(message: string | Uint8Array): void;
  /** Ends when the provider closes in order. @throws ProviderError when the connection breaks off or is refused */
  messages(): AsyncIterable<string>;
  close(): void;
}

/** @param url `ws:` or `wss:`. @throws ProviderError, or the signal's own reason */
export type ProviderConnect = (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<ProviderSocket>;

/** A transcript is small; more is no transcript. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** The provider takes no more audio when this much waits to be sent. A new connection may begin with a minute of it, as Base64. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Codes of RFC 6455, and those that providers give to a wrong key or too little money. */
const IN_ORDER = new Set([1000, 1001, 1005]);
const REFUSING = new Set([1002, 1003, 1007, 1008, 4001, 4002, 4003]);

export function createProviderConnect({
  endpoint,
  egress,
  clock,
  maxMessageBytes = MAX_MESSAGE_BYTES,
}: ProviderSocketOptions): ProviderConnect {
  const failures = failuresOf(endpoint);
  return async (url, { headers, signal }) => {
    signal.throwIfAborted();
    const socket = new WebSocket(url, {
      headers,
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      ...(endpoint.guarded && { createConnection: guardedBy(egress, url) }),
    });
    const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => socket.terminate();
    const timer = clock.after(HEAD_TIMEOUT_MS, () => {
      reject(failures.slow(HEAD_TIMEOUT_MS));
      stop();
    });
    // Listens from the beginning: the first message may come with the handshake.
    const received = on(socket, 'message', { close: ['close'] });
    let end: { readonly code: number } | { readonly error: unknown } | undefined;
    socket
      .once('open', resolve)
      .once('unexpected-response', (_request, response) => {
        response.destroy();
        reject(failures.status(response.statusCode ?? 500));
        stop();
      })
      .once('close', (code) => (end ??= { code }))
      .on('error', (error) => {
        end ??= { error };
        reject(failures.connection(error));
      });
    signal.addEventListener('abort', stop, { once: true });
    try {
      await opened;
    } catch (error) {
      signal.removeEventListener('abort', stop);
      signal.throwIfAborted();
      throw error;
    } finally {
      timer.cancel();
    }

    const failure = (): ProviderError | undefined => {
      if (end === undefined) return undefined;
      if ('error' in end) return failures.broken(causeCode(end.error));
      const { code } = end;
      if (IN_ORDER.has(code)) return undefined;
      return REFUSING.has(code) ? failures.closed(code) : failures.broken(`closed with ${code}`);
    };
    return {
      send(message) {
        if (socket.readyState !== WebSocket.OPEN) return;
        if (socket.bufferedAmount > MAX_UNSENT_BYTES) stop();
        else socket.send(message);
      },
      async *messages() {
        try {
          for await (const [data] of received as AsyncIterable<[Buffer]>) yield data.toString();
        } catch {
          // The error event has been kept.
        } finally {
          signal.removeEventListener('abort', stop);
        }
        signal.throwIfAborted();
        const failed = failure();
        if (failed !== undefined) throw failed;
      },
      close: () => socket.close(1000),
    };
  };
}

type Connected = (error: Error | null, socket?: unknown) => void;

function guardedBy(egress: Pick<Egress, 'connect'>, url: string): () => never {
  const connect = (_options: unknown, connected: Connected): undefined => {
    egress.connect(new URL(url.replace(/^ws/, 'http')).origin).then(
      (socket) => connected(null, socket),
      (error: unknown) => connected(error as Error),
    );
  };
  // The types know no connection that takes time; Node's client does.
  return connect as never;
}
