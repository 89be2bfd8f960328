import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { addRoute, routesOf } from '../http/route.ts';
import { openApiDocument } from './document.ts';

const getOpenApi = routesOf('Operations')({
  method: 'GET',
  path: '/openapi.json',
  operationId: 'getOpenApi',
  summary: 'This document',
  permission: 'public',
  answers: {
    200: {
      description: 'The OpenAPI 3.1 document of this interface.',
      schema: z.looseObject({ openapi: z.string().describe('Version of OpenAPI.') }).meta({ id: 'OpenApiDocument' }),
      headers: ['ETag'],
    },
    304: { description: 'It is as `If-None-Match` says.' },
  },
});

/** Serves the document of all routes registered before the server is ready: compressed on request, and not again for its ETag. */
export function registerOpenApi(app: FastifyInstance): void {
  let made: { readonly text: string; readonly zipped: Buffer; readonly etag: string } | undefined;
  addRoute(app, getOpenApi, async ({ request, reply }) => {
    const { text, zipped, etag } = (made ??= packed(JSON.stringify(openApiDocument(app.descriptions))));
    void reply.headers({ 'access-control-allow-origin': '*', etag, vary: 'accept-encoding' });
    if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim() === etag)) return reply.code(304).send();
    void reply.type('application/json; charset=utf-8');
    return /\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/i.test(request.headers['accept-encoding'] ?? '')
      ? reply.header('content-encoding', 'gzip').send(zipped)
      : reply.send(text);
  });
}

/** Prepares both forms. The tag is weak, because both have it. */
function packed(text: string): { readonly text: string; readonly zipped: Buffer; readonly etag: string } {
  return { text, zipped: gzipSync(text), etag: `W/"${createHash('sha256').update(text).digest('base64url')}"` };
}
