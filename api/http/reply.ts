/** Turns every failure into one of the contract's bodies. No other module does. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { SearchUnavailableError } from '../../knowledge/search/search.ts';
import { KubeError } from '../../kube/error.ts';
import { StoreError } from '../../store/index.ts';
import { ApiError, ValidationError } from './api-error.ts';
import { requestState } from './request-state.ts';
import { webhookFailure } from './webhook-failure.ts';
import { StorageError } from '../../knowledge/storage/file-storage.ts';

/** Seconds after which a client may try again when a server behind us is unavailable. */
const RETRY_AFTER_SECONDS = 5;

/** Translates Fastify's own failures: everything else it may throw is ours. */
const frameworkCodes: Readonly<Record<string, () => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('payload_too_large', 'the request body is too large: at most 1 MiB is read'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type', 'send the body as application/json'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new ApiError('bad_request', 'the body has not the length that Content-Length says'),
};

/** @returns the failure to answer with; a failure that the client can't help becomes `internal_error`. */
export function toApiError(error: unknown): ApiError | ValidationError {
  if (error instanceof ApiError || error instanceof ValidationError) return error;
  if (error instanceof KubeError) return fromKube(error);
  if (error instanceof StoreError) {
    return error.retryable || error.kind === 'schema' || error.kind === 'refused'
      ? new ApiError('unavailable', 'the database is not available; try again', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error })
      : internal(error);
  }
  // A storage that refuses us is repaired without the client.
  if (error instanceof StorageError && (error.kind === 'unavailable' || error.kind === 'refused'))
    return new ApiError('unavailable', 'the storage of files is not available; try again', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  if (error instanceof SearchUnavailableError)
    return new ApiError('unavailable', 'the search is not available; try again', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  const code = (error as { code?: unknown }).code;
  const known = typeof code === 'string' ? frameworkCodes[code] : undefined;
  return known?.() ?? internal(error);
}

/** Translates a failure that no route has translated: the API server is unavailable, or there is a defect. */
function fromKube(error: KubeError): ApiError {
  if (error.code === 0 || error.code === 429 || error.code >= 500) {
    const seconds = error.retryAfterMs === undefined ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil(error.retryAfterMs / 1000));
    return new ApiError('unavailable', 'the Kubernetes API is not available; try again', { retryAfterSeconds: seconds, cause: error });
  }
  // A server that is starting has no permissions loaded yet, and one that was set up wrong is repaired without the client.
  if (error.code === 401 || error.code === 403) {
    return new ApiError('unavailable', 'the Kubernetes API does not let this server do that at present; try again', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
  if (error.code === 413) return new ApiError('payload_too_large', 'the resource would become too large to be stored', { cause: error });
  return internal(error);
}

function internal(cause: unknown): ApiError {
  return new ApiError('internal_error', 'something went wrong on our side; the trace id in the header x-trace-id leads to the log line', {
    cause,
  });
}

export function sendFailure(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const failure = toApiError(error);
  const state = requestState(request);
  state.error = failure instanceof ValidationError ? 'validation_failed' : failure.code;
  if (failure instanceof ApiError && failure.status >= 500) state.failure = failure.cause ?? failure;
  const own = webhookFailure(failure, { url: request.originalUrl, traceId: state.traceId, now: state.now });
  if (own !== undefined) {
    if (failure instanceof ApiError) void reply.headers(failure.headers);
    return reply.code(own.status).send(own);
  }
  if (request.routeOptions.config.description?.jsonRpc) return sendJsonRpcFailure(reply, failure);
  if (failure instanceof ValidationError) return reply.code(422).send({ detail: failure.issues });
  const authentication = failure.code === 'unauthorized' || failure.code === 'forbidden';
  return reply
    .code(failure.status)
    .headers(failure.headers)
    .send({
      error: failure.code,
      message: failure.message,
      ...(authentication && { traceId: state.traceId }),
      ...(failure.conflicts !== undefined && { conflicts: failure.conflicts }),
    });
}

/** Sends an error without an id: the refused request wasn't parsed. Source: Model Context Protocol 2025-11-25, Streamable HTTP. */
function sendJsonRpcFailure(reply: FastifyReply, failure: ApiError | ValidationError): FastifyReply {
  const { status, code, headers } = failure instanceof ApiError ? failure : { status: 422, code: 'validation_failed', headers: {} };
  const retryAfter = (headers as Readonly<Record<string, string>>)['retry-after'];
  const message = `${code}: ${failure.message}${retryAfter === undefined ? '' : `; try again in ${retryAfter} s`}`;
  return reply
    .code(status)
    .headers(headers)
    .send({ jsonrpc: '2.0', id: null, error: { code: status >= 500 ? -32_603 : -32_000, message } });
}
