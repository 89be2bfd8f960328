/** Conditional writes and dry runs: `If-Match`, `?dry_run`, `?force`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { ApiError } from './api-error.ts';

export const dryRunQuery = { dry_run: z.boolean().default(false).describe('Validate against the API server and change nothing.') };
export const writeQuery = z.object({
  ...dryRunQuery,
  force: z.boolean().default(false).describe('Take over fields that other field managers own.'),
});

/** Of what others may refer to. */
export const deletionQuery = z.object({
  ...dryRunQuery,
  force: z
    .boolean()
    .default(false)
    .describe('Take it out of everything that uses it, also where other field managers own the field; without it the answer is 409 then.'),
});

/** The dry run of a creation makes an object without a version. */
export function sendEtag(reply: FastifyReply, resourceVersion: string | undefined): void {
  if (resourceVersion !== undefined) void reply.header('etag', `"${resourceVersion}"`);
}

/**
 * The check that `If-Match` asks for; weak tags never match. Source: RFC 9110, section 13.1.1.
 * @returns a function that throws ApiError `precondition_failed`
 */
export function ifMatch(request: FastifyRequest): (resourceVersion: string) => void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = new Set(header.split(',').map((tag) => tag.trim()));
  return (resourceVersion) => {
    if (tags.has(`"${resourceVersion}"`)) return;
    throw new ApiError('precondition_failed', `the object has changed: its ETag is "${resourceVersion}" now`, {
      headers: { etag: `"${resourceVersion}"` },
    });
  };
}
