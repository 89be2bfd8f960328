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
    },
  },
});

/** Serves the document of every route that is registered by the time the server is ready. */
export function registerOpenApi(app: FastifyInstance): void {
  let text: string | undefined;
  addRoute(app, getOpenApi, async ({ reply }) => {
    text ??= JSON.stringify(openApiDocument(app.descriptions));
    return reply.type('application/json; charset=utf-8').header('access-control-allow-origin', '*').send(text);
  });
}
