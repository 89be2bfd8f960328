/** One request for data, before a call begins. */
import { createHash } from 'node:crypto';

import { fillTemplate, fillValue, type DynamicData } from '../../crds/template.ts';
import type { AgentSpec } from '../../crds/index.ts';
import { isBodyless, type LookupMethod } from '../../crds/http-method.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { fillAddress, withQuery } from '../tools/http/address.ts';
import { readAnswer, MAX_ANSWER_BYTES } from '../tools/http/answer.ts';
import { readHeaders, withDefaults, type ReadSecret } from '../tools/http/headers.ts';
import type { Redaction } from '../tools/http/redaction.ts';
import type { JsonValue } from '../tools/tool-result.ts';

export type Lookup = NonNullable<AgentSpec['dynamicData']>[number];

/** A lookup has failed; the message holds no values. */
export class LookupError extends Error {
  override readonly name = 'LookupError';
  /** Reason for logs: `incomplete_address`, `http_404`, `too_large`, `invalid_json`, `unreadable`. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

const DEFAULT_TIMEOUT_MS = 5_000;

/** Returns the timeout of the whole lookup, reading Secrets and the cache included, in milliseconds. */
export function timeoutOf({ timeout }: Lookup): number {
  return timeout === undefined ? DEFAULT_TIMEOUT_MS : millisecondsOf(timeout);
}

export interface PreparedLookup {
  readonly request: {
    readonly url: string;
    readonly method: LookupMethod;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly redaction: Redaction;
}

/** Fills in the request. Rejects with what `readSecret` rejects with. @throws LookupError for an address that lacks a value */
export async function prepare(lookup: Lookup, data: DynamicData, readSecret: ReadSecret): Promise<PreparedLookup> {
  const { url, method = 'GET', headers: specs = [], query = {}, body } = lookup;
  const address = fillAddress(url, { data, headers: specs });
  if ('problem' in address) throw new LookupError('incomplete_address', address.problem);
  const { headers, redaction } = await readHeaders(specs, data, readSecret);
  const filled = Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? fillTemplate(value, data) : value]);
  const sends = !isBodyless(method);
  return {
    request: {
      url: withQuery(address.url, Object.fromEntries(filled) as Record<string, unknown>),
      method,
      headers: withDefaults(headers, {
        accept: 'application/json',
        'user-agent': 'Parley-Dynamic-Data/1.0',
        ...(sends && { 'content-type': 'application/json' }),
      }),
      ...(sends && { body: JSON.stringify(fillValue(body ?? {}, data)) }),
    },
    redaction,
  };
}

/**
 * Returns a key that differs for each request, also for one with another secret. One-way. @param forMs how long the answer is kept: a lookup
 * that wants fresher answers doesn't get those of another one
 */
export function cacheKey({ request }: PreparedLookup, forMs: number): string {
  const headers = Object.entries(request.headers)
    .map(([name, value]) => [name.toLowerCase(), value])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([2, forMs, request.method, request.url, headers, request.body ?? null]))
    .digest('hex');
}

/** Makes the request. @returns the answer without the secrets that were sent. @throws LookupError, EgressError, or the signal's reason */
export async function ask(
  egress: Egress,
  { request, redaction }: PreparedLookup,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<JsonValue> {
  const response = await egress.request({ ...request, timeoutMs, signal, maxBodyBytes: MAX_ANSWER_BYTES, overflow: 'truncate' });
  const host = URL.parse(response.url)?.host ?? '';
  const { status } = response;
  if (status < 200 || status >= 300) {
    const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : '';
    throw new LookupError(`http_${status}`, `${host} answered ${status}${redirect}`);
  }
  const answer = await readAnswer(response, redaction);
  if (answer.kind === 'json') return answer.value;
  // The answer to HEAD never has content, and that to OPTIONS rarely.
  if (answer.kind === 'none' && (request.method === 'HEAD' || request.method === 'OPTIONS')) return {};
  if (answer.kind === 'text' && answer.cut) throw new LookupError('too_large', `the answer of ${host} is longer than 64 KiB`);
  if (answer.kind === 'unreadable') throw new LookupError('unreadable', `the answer of ${host} can't be read: ${answer.why}`);
  throw new LookupError('invalid_json', `the answer of ${host} is no JSON object or list`);
}
