import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { addRoute, routesOf } from '../http/route.ts';
import { pageScript } from '../call-page/bundle.ts';
import { assetTypes, readAsset, type AssetName } from './assets.ts';
import { docsPage } from './page.ts';
import { DOCS_STYLE } from './style.ts';

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

interface PageFile {
  readonly type: string;
  readonly read: () => Promise<string | Uint8Array> | string;
}

/** Serves `/docs`: the OpenAPI document for people. Works without any other server. @param options `callPage`: as for {@link docsPage} */
export function registerDocs(app: FastifyInstance, options: { readonly callPage: boolean }): void {
  const page = docsPage(options);
  let script: Promise<string> | undefined;
  const files = new Map<string, PageFile>([
    ['style.css', { type: 'text/css; charset=utf-8', read: () => DOCS_STYLE }],
    ['docs-page.js', { type: 'text/javascript; charset=utf-8', read: () => (script ??= pageScript('docs-page.js')) }],
  ]);
  for (const [name, type] of Object.entries(assetTypes)) files.set(name, { type, read: () => readAsset(name as AssetName) });

  addRoute(app, getDocs, async ({ reply }) => reply.headers(securityHeaders).type('text/html; charset=utf-8').send(page));

  addRoute(app, getDocsFile, async ({ params, reply }) => {
    const file = files.get(params.file);
    if (file === undefined) throw new ApiError('not_found', 'there is nothing at this address');
    return reply
      .headers(securityHeaders)
      .header('cache-control', 'public, max-age=3600')
      .type(file.type)
      .send(await file.read());
  });
}
