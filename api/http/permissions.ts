import type { Permission } from '../../store/index.ts';

/**
 * Who may do what: the one table of every route and what it asks of a key. The authentication plugin refuses to
 * register a route that isn't here, and a test walks the table with keys of every permission.
 */

/** `public` needs no key. */
export type Requirement = Exclude<Permission, '*'> | 'public';

/** Key: `METHOD pattern`. */
export const routePermissions: Readonly<Record<string, Requirement>> = {
  'GET /healthz': 'public',
  'GET /readyz': 'public',
  'GET /metrics': 'public',

  'POST /v2/ai-agents': 'agents:write',
  'GET /v2/ai-agents': 'agents:read',
  'GET /v2/ai-agents/:agent_id': 'agents:read',
  'PUT /v2/ai-agents/:agent_id': 'agents:write',
  'DELETE /v2/ai-agents/:agent_id': 'agents:write',

  'POST /v1/api-keys': 'api_keys:write',
  'GET /v1/api-keys': 'api_keys:read',
  'GET /v1/api-keys/:key_id': 'api_keys:read',
  'POST /v1/api-keys/:key_id/revoke': 'api_keys:write',
};

/** What a route asks of a key. HEAD asks what GET asks. */
export function requirementOf(method: string, pattern: string): Requirement | undefined {
  const path = pattern.length > 1 ? pattern.replace(/\/$/, '') : pattern;
  return routePermissions[`${method === 'HEAD' ? 'GET' : method} ${path}`];
}
