import { Registry } from 'prom-client';

import { KubeError } from '../../kube/error.ts';
import type { Transport } from '../../kube/transport.ts';
import { systemClock } from '../../platform/clock.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { Readiness } from '../../platform/lifecycle.ts';
import { createLogger } from '../../platform/logging.ts';
import { buildApi } from '../app.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { RouteDescription } from '../http/route.ts';
import { limitsOf } from '../limits/limits-of.ts';
import { SigningKeys } from '../signing/signing-keys.ts';

const unreachable = (): Promise<never> =>
  Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'this facade was built to be described, not to be used' }));
const nowhere: Transport = { server: 'nowhere', request: unreachable, stream: unreachable, close: () => Promise.resolve() };

/** Returns every route of the facade, as it registers them, for documents and tests. Nothing is started. */
export function describedRoutes(): readonly RouteDescription[] {
  return unstartedApi().descriptions;
}

/** Builds a facade with nothing behind it; it must not be made ready. @param options the differences from the default */
export function unstartedApi({
  mcp = true,
  page = false,
}: Partial<Pick<ApiDependencies, 'mcp'> & Pick<ApiDependencies['calls'], 'page'>> = {}): ReturnType<typeof buildApi> {
  return buildApi({
    store: { knowledge: {}, calls: {} } as ApiDependencies['store'],
    transport: nowhere,
    logger: createLogger({ role: 'api', level: 'silent' }),
    registry: new Registry(),
    readiness: new Readiness(),
    clock: systemClock,
    random: Math.random,
    signing: new SigningKeys({ given: [], stored: unreachable }),
    limits: limitsOf(loadConfig({})),
    knowledge: {} as ApiDependencies['knowledge'],
    addresses: { web: () => undefined, sip: () => undefined },
    calls: { page } as ApiDependencies['calls'],
    explain: unreachable,
    mcp,
  });
}
