/** Describes a request and its answer, and checks which headers callers may set, and which survive a redirect. */
import type { Dispatcher } from 'undici';

import type { ResponseHead } from './connection.ts';
import { EgressError } from './egress-error.ts';
import type { Target } from './target.ts';

export interface EgressRequest {
  readonly url: string;
  readonly method?: Dispatcher.HttpMethod;
  /** Headers without those that belong to the connection (`host`, `content-length`, `transfer-encoding`…). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Milliseconds from the start to the last byte of the body, through all redirects. */
  readonly timeoutMs: number;
  /** Most redirects that are followed. Default 0: a redirect is returned as the answer. */
  readonly maxRedirects?: number;
  /** Most bytes of the body, as sent and once inflated. */
  readonly maxBodyBytes: number;
  /** Effect of a body beyond `maxBodyBytes`: an error (default), or at once an answer with the truncated body. */
  readonly overflow?: 'fail' | 'truncate';
  /** Asks for a compressed body and inflates it; default false: the body is returned as sent. */
  readonly decompress?: boolean;
  /** The answer is complete with its head: whatever becomes of the body is no failure. Default false. */
  readonly statusDecides?: boolean;
  /**
   * The server may get the request twice: it may go out on a kept connection, and once more on a new one when the server closes that one
   * before the first byte of an answer. Default for GET and HEAD; any other request has a new connection.
   */
  readonly repeatable?: boolean;
  /** Called when the request goes out a second time. */
  readonly onRepeat?: () => void;
}

export interface EgressResponse extends ResponseHead {
  readonly body: Buffer;
  /** Set if the body is cut off: at `maxBodyBytes` (`overflow: 'truncate'`), or because only the status decides. */
  readonly truncated: boolean;
  /** The last address after redirects. */
  readonly url: string;
  readonly address: string;
}

/** The guard sets these headers of the connection (RFC 9110, 7.6.1) and of the host. Names are in lower case. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** HTTP can carry only these characters (RFC 9110, 5.1 and 5.5). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Tells whether no request can bring the header, in whatever case it is written: the connection has it, or a proxy in between reads it. */
export function isConnectionHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return connectionHeaders.has(lower) || lower.startsWith('proxy-');
}

/** @throws EgressError `forbidden_header`, with the name and never the value */
export function checkHeaders(headers: Readonly<Record<string, string>>, host: string): void {
  for (const name in headers) {
    if (!TOKEN.test(name)) throw forbidden(host, `${JSON.stringify(name)} is not a valid header name: use letters, digits and hyphens`);
    if (isConnectionHeader(name)) throw forbidden(host, `the header ${name} cannot be set, because Parley sets it itself: remove it`);
    if (!FIELD_VALUE.test(headers[name] ?? '')) {
      throw forbidden(
        host,
        `the value of the header ${name} can't be sent: no line breaks, control characters or characters beyond Latin-1`,
      );
    }
  }
}

function forbidden(host: string, message: string): EgressError {
  return new EgressError({ kind: 'forbidden_header', phase: 'check', host, message });
}

/** Only these headers may follow a redirect to another host: all others may be credentials. */
const harmless = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent']);
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the request that follows a redirect; undefined when the answer is not a redirect.
 *
 * @throws EgressError `redirect` when it has no valid address
 */
export function redirected(
  request: EgressRequest,
  from: Target,
  response: Pick<EgressResponse, 'status' | 'headers'>,
): EgressRequest | undefined {
  if (!redirects.has(response.status)) return undefined;
  const location = response.headers['location'];
  if (location === undefined) return undefined;
  const to = typeof location === 'string' ? URL.parse(location, from.url.href) : null;
  if (to === null) {
    const message = `${from.host} redirects to an invalid address: use the final address`;
    throw new EgressError({ kind: 'redirect', phase: 'head', host: from.host, message });
  }
  const { body, method, headers, ...rest } = request;
  // Clients follow a 301 or 302 answer to POST with GET; 307 and 308 keep the method.
  const keeps = response.status === 307 || response.status === 308 || method === undefined || method === 'GET' || method === 'HEAD';
  const foreign = to.origin !== from.origin;
  const kept = Object.entries(headers ?? {}).filter(([name]) => {
    const lower = name.toLowerCase();
    return (!foreign || harmless.has(lower)) && (keeps || !lower.startsWith('content-'));
  });
  return {
    ...rest,
    url: to.href,
    headers: Object.fromEntries(kept),
    method: keeps ? (method ?? 'GET') : 'GET',
    ...(keeps && body !== undefined ? { body } : {}),
  };
}
