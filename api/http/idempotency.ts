/**
 * Serves the header `Idempotency-Key`: a request that is sent again, because its answer was lost, is answered as the first time and makes
 * nothing twice.
 *
 * | the first one | the one sent again is |
 * |---|---|
 * | was answered with a 2xx | answered the same, with `Idempotency-Replayed: true`; for 24 hours |
 * | is being carried out | 409 with Retry-After |
 * | was refused (4xx) | carried out: nothing was made |
 * | has failed (5xx), or its process has died | carried out; ids of what it makes are as the first time, so that what is there is found |
 *
 * Answers hold tokens and secrets. They are kept encrypted with the API key that asked, of which only a hash is stored.
 * Source: draft-ietf-httpapi-idempotency-key-header.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { canonicalJson } from '../../platform/canonical-json.ts';
import type { Logger } from '../../platform/logging.ts';
import { uuidv7Sequence } from '../../platform/uuid.ts';
import type { IdempotentRequest, IdempotentRequests } from '../../store/index.ts';
import { idempotencyKey } from '../validation/idempotency-key.ts';
import { readBoolean } from '../validation/scalars.ts';
import { validate } from '../validation/validate.ts';
import { ApiError, ValidationError } from './api-error.ts';
import { tokenOf } from './auth.ts';
import { requestState } from './request-state.ts';
import type { RouteDescription } from './route.ts';

const HEADER = 'idempotency-key';
const LOC = ['header', 'Idempotency-Key'];
/** Time that a claim outlasts its request, in milliseconds, so that nobody carries out a request that still runs. */
const MARGIN_MS = 5_000;
const KEPT_HEADERS = ['content-type', 'etag', 'location', 'warning'];
/** Ids of calls in an answer, by which it is found when a call is erased. */
const CALL_ID = /\bcall_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

interface Claimed extends IdempotentRequest {
  readonly token: string;
}

export interface IdempotencyOptions {
  readonly requests: Pick<IdempotentRequests, 'claim' | 'answered' | 'forget' | 'release'>;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
}

/** Returns whether repeating the route's request would make something twice. The entries of an upload have keys of their own. */
export function takesIdempotencyKey(route: RouteDescription): boolean {
  const { method, permission, mcp, undocumented } = route;
  return method === 'POST' && permission !== 'public' && undocumented !== true && !isUpload(route) && mcp?.reads !== true;
}

/** Registers the header; comes after every hook that adds headers to answers. */
export function registerIdempotency(app: FastifyInstance, { requests, requestTimeoutMs, logger }: IdempotencyOptions): void {
  const claims = new WeakMap<FastifyRequest, Claimed>();

  app.addHook('preHandler', async (request, reply) => {
    const claimed = claimedBy(request);
    if (claimed === undefined) return undefined;
    const fingerprint = fingerprintOf(request);
    const claim = await requestState(request).timed('idempotency', () =>
      requests.claim(claimed, { fingerprint, forMs: requestTimeoutMs + MARGIN_MS }),
    );
    if (claim.outcome === 'answered') return replay(reply, open(claim.answer, claimed));
    if (claim.outcome === 'running')
      throw new ApiError('conflict', 'the first request with this Idempotency-Key is being carried out; try again', {
        retryAfterSeconds: 1,
      });
    if (claim.outcome === 'other')
      throw new ValidationError([
        { type: 'value_error', loc: LOC, msg: 'Value error, another request was made with this key: take a new key for each request' },
      ]);
    claims.set(request, claimed);
    makeRepeatable(request, { ...claimed, fingerprint, madeAt: claim.madeAt });
    return undefined;
  });

  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const claimed = claims.get(request);
    if (claimed === undefined) return payload;
    claims.delete(request);
    try {
      await end(claimed, reply, payload);
    } catch (err) {
      // A repeated request is carried out once more then, with the same ids.
      logger.warn({ err, org: claimed.org }, 'failed to keep what was answered to a request with an Idempotency-Key');
    }
    return payload;
  });

  async function end(claimed: Claimed, reply: FastifyReply, payload: unknown): Promise<void> {
    const { statusCode: status } = reply;
    if (status >= 500) return requests.release(claimed);
    if (status >= 300) return requests.forget(claimed);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return undefined;
    const headers = Object.fromEntries(KEPT_HEADERS.filter((name) => reply.hasHeader(name)).map((name) => [name, headerOf(reply, name)]));
    const body = payload.toString();
    return requests.answered(claimed, seal({ status, headers, body }, claimed), [...new Set(body.match(CALL_ID))]);
  }
}

/** Returns the claim of a request to be carried out once, undefined for others. @throws ApiError, ValidationError for a bad key */
function claimedBy(request: FastifyRequest): Claimed | undefined {
  const { description } = request.routeOptions.config;
  const sent = request.headers[HEADER];
  const { caller } = requestState(request);
  if (sent === undefined || description === undefined || caller === undefined) return undefined;
  if (isUpload(description))
    throw new ApiError(
      'bad_request',
      'an upload takes no Idempotency-Key: send the file to …/documents/bulk with an idempotency_key of its own',
    );
  if (!takesIdempotencyKey(description) || isDryRun(request)) return undefined;
  const read = validate(idempotencyKey, sent, LOC);
  if (!read.ok) throw new ValidationError(read.issues);
  return { org: caller.org, apiKeyId: caller.keyId, key: read.value, token: tokenOf(request) };
}

const isUpload = ({ form, streamed }: Pick<RouteDescription, 'form' | 'streamed'>): boolean => form !== undefined || streamed !== undefined;

/** Reads `dry_run` as the route does: every spelling of true, and the last of several values. */
function isDryRun({ query }: FastifyRequest): boolean {
  const sent = [(query as Readonly<Record<string, unknown>>)['dry_run']].flat().at(-1);
  const read = readBoolean(sent, []);
  return 'value' in read && read.value;
}

function headerOf(reply: FastifyReply, name: string): string | readonly string[] {
  const value = reply.getHeader(name);
  return Array.isArray(value) ? value : String(value);
}

/** Hashes a request. Equal values have equal hashes: a client may write the fields of its body in another order. */
function fingerprintOf({ method, originalUrl, body }: FastifyRequest): Buffer {
  const text = Buffer.isBuffer(body) ? body.toString() : '';
  let value: string;
  try {
    value = canonicalJson(JSON.parse(text));
  } catch {
    value = text;
  }
  return createHash('sha256').update(`${method} ${originalUrl}\n${value}`).digest();
}

function replay(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'idempotency-replayed': 'true' })
    .send(body);
}

/** Gives the objects that the request makes the same ids whenever it is carried out. */
function makeRepeatable(
  request: FastifyRequest,
  { org, apiKeyId, key, fingerprint, madeAt }: IdempotentRequest & { readonly fingerprint: Buffer; readonly madeAt: Date },
): void {
  const seed = createHash('sha256')
    .update(JSON.stringify([org, apiKeyId, key, madeAt]))
    .update(fingerprint)
    .digest();
  const bytesOf = (purpose: string) => {
    let count = 0;
    return (size: number): Buffer =>
      createHash('shake256', { outputLength: size })
        .update(seed)
        .update(`${purpose} ${(count += 1)}`)
        .digest();
  };
  const state = requestState(request);
  state.newUuid = uuidv7Sequence({ now: () => madeAt.getTime(), random: bytesOf('uuid') });
  state.randomBytes = bytesOf('bytes');
}

const storageKey = ({ token, key }: Claimed): Buffer => Buffer.from(hkdfSync('sha256', token, key, 'parley idempotency', 32));

function seal(answer: Answer, claimed: Claimed): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, storageKey(claimed), iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

function open(sealed: Buffer, claimed: Claimed): Answer {
  const decipher = createDecipheriv(CIPHER, storageKey(claimed), sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString()) as Answer;
}
