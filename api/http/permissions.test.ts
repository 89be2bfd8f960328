import { describe, expect, it } from 'vitest';

import { permissions } from '../../store/index.ts';
import { describedRoutes, unstartedApi } from '../openapi/described-routes.ts';

/** Permissions by address, stated independently of the routes: the first that fits. */
const resources: readonly (readonly [RegExp, string])[] = [
  [/^\/v2\/ai-agents\/:\w+\/(custom|builtin|mcp)-tools(\/|$)/, 'tools'],
  // The words of a call don't belong to the agent's settings.
  [/^\/v2\/ai-agents\/:\w+\/postcall-analysis\//, 'calls'],
  [/^\/v2\/ai-agents(\/|$)/, 'agents'],
  [/^\/v1\/agent-tests(\/|$)/, 'agents'],
  [/^\/v1\/test-runs(\/|$)/, 'agents'],
  [/^\/v1\/explain\//, 'agents'],
  [/^\/v1\/phone-numbers(\/|$)/, 'phone_numbers'],
  [/^\/v1\/api-keys(\/|$)/, 'api_keys'],
  [/^\/v1\/public\/webhook\//, 'webhooks'],
  [/^\/v1\/(calls|usage)(\/|$)/, 'calls'],
  [/^\/v1\/call-recording(\/|$)/, 'recordings'],
  [/^\/api\/v1\/(knowledge-bases|vector\/search)(\/|$)/, 'knowledge_bases'],
];
/** Routes that ask with a body, and change nothing. */
const reads = new Set(['/api/v1/vector/search', '/v1/call-recording/download', '/v1/call-recording/signed-url']);
const publicPaths = /^\/(healthz|readyz|metrics|openapi\.json|docs(\/.*)?|v1\/call-recording\/signed\/:token)$/;

const routes = describedRoutes();

describe('permissions', () => {
  it.each(routes.map(({ method, path, permission }) => [method, path, permission] as const))('%s %s needs %s', (method, path, needed) => {
    if (publicPaths.test(path)) {
      expect(needed).toBe('public');
      return;
    }
    if (path === '/mcp') {
      // Each tool needs the permission of its route.
      expect(needed).toBe('any');
      return;
    }
    if (path === '/v1/calls/create-web-call') {
      expect(needed).toBe('calls:create');
      return;
    }
    if (/^\/v1\/calls\/:call_id\/(say|instructions|transfer|mute|take-over)$/.test(path)) {
      expect(needed).toBe('calls:control');
      return;
    }
    if (path.startsWith('/v1/people')) {
      expect(needed).toBe('people:erase');
      return;
    }
    if (path === '/v1/calls/:call_id/listen') {
      expect(needed).toBe('calls:listen');
      return;
    }
    const [, resource] = resources.find(([pattern]) => pattern.test(path)) ?? [];
    expect(resource, 'add the address to `resources`, above').toBeDefined();
    expect(needed).toBe(`${resource}:${method === 'GET' || reads.has(path) ? 'read' : 'write'}`);
    expect(permissions).toContain(needed);
  });

  it('are asked for on every route: one without a description is not taken', () => {
    expect(() => unstartedApi().get('/v2/forgotten', () => 'x')).toThrow('GET /v2/forgotten has no description');
  });
});
