/**
 * Serves `/call` and `/calls`: talk to an agent from a browser, and look at calls. Off by default. The pages are clients like any other,
 * but for the names of agents, which the first shows without the right to read them, and what their key may do in calls that go on.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';

import { dynamicDataToBring } from '../../calls/call-settings.ts';
import { covers } from '../../store/index.ts';
import type { CallDependencies } from '../dependencies.ts';
import { ApiError } from '../http/api-error.ts';
import { addRoute, routesOf } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { pageScript } from './bundle.ts';
import { callPage } from './html/call.ts';
import { callsPage } from './html/calls.ts';
import { STYLE } from './html/style.ts';

const defineRoute = routesOf('Operations');

const getCallPage = defineRoute({
  method: 'GET',
  path: '/call',
  operationId: 'getCallPage',
  summary: 'A page to talk to agents',
  permission: 'public',
  undocumented: true,
  answers: { 200: { description: 'The page.', contentType: 'text/html' } },
});

const getCallsPage = defineRoute({
  method: 'GET',
  path: '/calls',
  operationId: 'getCallsPage',
  summary: 'A page to look at calls',
  permission: 'public',
  undocumented: true,
  answers: { 200: { description: 'The page.', contentType: 'text/html' } },
});

const getCallPageFile = defineRoute({
  method: 'GET',
  path: '/call/:file',
  operationId: 'getCallPageFile',
  summary: 'A file of the page',
  permission: 'public',
  undocumented: true,
  params: { file: 'The name of a file that the page asks for.' },
  answers: { 200: { description: 'The file.', contentType: '*/*' } },
});

const getPagePermissions = defineRoute({
  method: 'GET',
  path: '/call/permissions',
  operationId: 'getPagePermissions',
  summary: 'What the pages offer to the holder of a key',
  permission: 'any',
  undocumented: true,
  answers: {
    200: {
      description: 'What the key may do with calls that go on.',
      schema: z.object({ control: z.boolean(), listen: z.boolean() }),
    },
  },
});

const listCallableAgents = defineRoute({
  method: 'GET',
  path: '/call/agents',
  operationId: 'listCallableAgents',
  summary: 'What the page shows of agents',
  permission: 'calls:create',
  undocumented: true,
  answers: {
    200: {
      description: 'All agents, with what a caller has to give them; nothing of how they are made.',
      schema: z.object({
        data: z.array(z.object({ ai_agent_id: z.string(), agent_name: z.string(), required_dynamic_data: z.array(z.string()) })),
      }),
    },
  },
});

/** Returns the headers of a page: it speaks with its own server and with the media server, and takes nothing from anywhere else. */
export function callPageHeaders(mediaServer: CallDependencies['mediaServer']): Readonly<Record<string, string>> {
  const media = mediaServer === undefined ? '' : ` ${originsOf(mediaServer.publicUrl).join(' ')}`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    'media-src blob:',
    `connect-src 'self'${media}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'permissions-policy': 'microphone=(self), camera=(), geolocation=(), display-capture=()',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  };
}

/** Signalling goes over a web socket; the client asks over HTTP why one was refused. */
function originsOf(publicUrl: string): readonly string[] {
  const { host, protocol } = new URL(publicUrl);
  return protocol === 'wss:' ? [`wss://${host}`, `https://${host}`] : [`ws://${host}`, `http://${host}`];
}

interface PageFile {
  readonly type: string;
  readonly read: () => string | Promise<string>;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

export function registerCallPage(
  app: FastifyInstance,
  { mediaServer }: Pick<CallDependencies, 'mediaServer'>,
  { views }: Pick<KindContext, 'views'>,
): void {
  const headers = callPageHeaders(mediaServer);
  const files = new Map<string, PageFile>([['style.css', { type: 'text/css; charset=utf-8', read: () => STYLE }]]);
  for (const name of ['call-page.js', 'calls-page.js', 'listen.js'] as const)
    files.set(name, { type: 'text/javascript; charset=utf-8', read: once(() => pageScript(name)) });

  const sendPage = (reply: FastifyReply, html: string): unknown =>
    reply.headers(headers).header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(html);
  addRoute(app, getCallPage, async ({ reply }) => sendPage(reply, callPage('call-page.js')));
  addRoute(app, getCallsPage, async ({ reply }) => sendPage(reply, callsPage('calls-page.js')));

  addRoute(app, getPagePermissions, async ({ caller: { permissions } }) => ({
    control: covers(permissions, 'calls:control'),
    listen: covers(permissions, 'calls:listen'),
  }));

  addRoute(app, listCallableAgents, async ({ caller: { org } }) => {
    const agents = await views.agents.list(org);
    return {
      data: agents.map(({ metadata, spec }) => ({
        ai_agent_id: metadata.name,
        agent_name: spec.displayName ?? metadata.name,
        required_dynamic_data: dynamicDataToBring(spec),
      })),
    };
  });

  addRoute(app, getCallPageFile, async ({ params, reply }) => {
    const file = files.get(params.file);
    if (file === undefined) throw new ApiError('not_found', 'there is nothing at this address');
    return reply
      .headers(headers)
      .header('cache-control', 'no-cache')
      .type(file.type)
      .send(await file.read());
  });
}
