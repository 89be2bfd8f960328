import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { addRoute, routesOf } from '../http/route.ts';
import { assetTypes, isAsset, page, readAsset, STARTER, STARTER_NAME } from './assets.ts';

const defineRoute = routesOf('Operations');

const getDocs = defineRoute({
  method: 'GET',
  path: '/docs',
  operationId: 'getDocs',
  summary: 'This interface, to be browsed and tried',
  permission: 'public',
  answers: { 200: { description: 'A page that shows the OpenAPI document.', contentType: 'text/html' } },
});

const getDocsFile = defineRoute({
  method: 'GET',
  path: '/docs/:file',
  operationId: 'getDocsFile',
  summary: 'A file of the page',
  permission: 'public',
  params: { file: 'The name of a file that the page asks for.' },
  answers: { 200: { description: 'The file.', contentType: '*/*' } },
});

/** The page takes scripts, styles and data from its own server and from nowhere else. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** Serves `/docs`: the OpenAPI document for people. Works without any other server. */
export function registerDocs(app: FastifyInstance): void {
  addRoute(app, getDocs, async ({ reply }) => reply.headers(securityHeaders).type('text/html; charset=utf-8').send(page));

  addRoute(app, getDocsFile, async ({ params: { file }, reply }) => {
    void reply.headers(securityHeaders).header('cache-control', 'public, max-age=3600');
    if (file === STARTER_NAME) return reply.type('text/javascript; charset=utf-8').send(STARTER);
    if (!isAsset(file)) {
      void reply.removeHeader('cache-control');
      throw new ApiError('not_found', 'there is nothing at this address');
    }
    return reply.type(assetTypes[file]).send(await readAsset(file));
  });
}
