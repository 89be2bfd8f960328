import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { KubeError, type Transport } from '../../kube/index.ts';
import { systemClock } from '../../platform/clock.ts';
import { Readiness } from '../../platform/lifecycle.ts';
import { createLogger } from '../../platform/logging.ts';
import { permissions } from '../../store/index.ts';
import { buildApi } from '../app.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { requirementOf, routePermissions } from './permissions.ts';

const nowhere: Transport = {
  server: 'nowhere',
  request: () => Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'there is no server' })),
  stream: () => Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'there is no server' })),
  close: () => Promise.resolve(),
};

function build() {
  const logger = createLogger({ role: 'test', level: 'silent' });
  const store = {} as ApiDependencies['store'];
  return buildApi({
    store,
    transport: nowhere,
    logger,
    registry: new Registry(),
    readiness: new Readiness(),
    clock: systemClock,
    random: Math.random,
    pageTokenKey: new Uint8Array(32),
  });
}

describe('the table of permissions', () => {
  it('has a line for every route and a route for every line', () => {
    const app = build();
    const registered = Object.keys(routePermissions).filter((route) => {
      const [method = '', url = ''] = route.split(' ');
      return app.hasRoute({ method, url });
    });
    expect(registered).toEqual(Object.keys(routePermissions));
    expect(() => app.get('/v2/forgotten', () => 'x')).toThrow('GET /v2/forgotten is missing from the table of permissions');
  });

  it('knows only permissions that a key can hold, reads for GET and writes for the rest', () => {
    for (const [route, needed] of Object.entries(routePermissions)) {
      if (needed === 'public') continue;
      expect(permissions).toContain(needed);
      expect(needed.endsWith(route.startsWith('GET ') ? ':read' : ':write')).toBe(true);
    }
    expect(requirementOf('HEAD', '/v2/ai-agents/')).toBe('agents:read');
  });
});
