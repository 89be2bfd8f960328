/** Reads conditional writes and dry runs: `If-Match`, `?dry_run`, `?force`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { KubeObject, Stored } from '../../kube/types.ts';
import { ApiError, notFound } from './api-error.ts';

export const dryRunQuery = { dry_run: z.boolean().default(false).describe('Validate against the API server and change nothing.') };
export const writeQuery = z.object({
  ...dryRunQuery,
  force: z.boolean().default(false).describe('Take over fields that other field managers own.'),
});

export const deletionQuery = z.object({
  ...dryRunQuery,
  force: z
    .boolean()
    .default(false)
    .describe('Take it out of everything that uses it, also where other field managers own the field; without it the answer is 409 then.'),
});

/** Sends the ETag. The dry run of a creation has an object without a version. */
export function sendEtag(reply: FastifyReply, resourceVersion: string | undefined): void {
  if (resourceVersion !== undefined) void reply.header('etag', `"${resourceVersion}"`);
}

/** Returns the object and sends its ETag. @throws ApiError `not_found` where there is none */
export function requireObject<T extends Stored<KubeObject>>(reply: FastifyReply, object: T | undefined, noun: string): T {
  if (object === undefined) throw notFound(noun);
  sendEtag(reply, object.metadata.resourceVersion);
  return object;
}

/** Returns what a write is asked to do: its query, and the check of its preconditions. */
export function writeModeOf(query: z.output<typeof writeQuery>, request: FastifyRequest) {
  return { dryRun: query.dry_run, force: query.force, requireState: preconditions(request) };
}

/**
 * Makes the check of `If-Match` and `If-None-Match`; weak tags never match the former. Source: RFC 9110, sections 13.1.1 and 13.1.2.
 * @returns a function of the present state that throws ApiError `precondition_failed`
 */
export function preconditions({ headers }: FastifyRequest): (resourceVersion: string) => void {
  const wanted = tagsIn(headers['if-match']);
  const unwanted = tagsIn(headers['if-none-match'])?.map((tag) => tag.replace(/^W\//, ''));
  return (resourceVersion) => {
    const tag = `"${resourceVersion}"`;
    const isNamedIn = (tags: readonly string[]): boolean => tags.includes('*') || tags.includes(tag);
    if (unwanted !== undefined && isNamedIn(unwanted))
      throw new ApiError('precondition_failed', `the object is there, with the ETag ${tag}, and If-None-Match names it`, {
        headers: { etag: tag },
      });
    if (wanted === undefined || isNamedIn(wanted)) return;
    throw new ApiError('precondition_failed', `the object has changed: its ETag is "${resourceVersion}" now`, {
      headers: { etag: `"${resourceVersion}"` },
    });
  };
}

const tagsIn = (header: string | undefined): readonly string[] | undefined => header?.split(',').map((tag) => tag.trim());
