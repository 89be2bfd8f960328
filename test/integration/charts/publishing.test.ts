/** Tests what of the REST API's port an Ingress or an HTTPRoute lets in. */
import { describe, expect, it } from 'vitest';

import { MEDIA_EVENTS_PATH } from '../../../api/media-events/routes.ts';
import { unstartedApi } from '../../../api/openapi/described-routes.ts';
import { find, render, withValues } from './helm.ts';

/** These paths show internals, and need no key. */
const inside = ['/metrics', '/readyz'];

interface HttpRouteRule {
  readonly matches: readonly { readonly path: { readonly type: string; readonly value: string } }[];
}

async function published(): Promise<readonly (readonly string[])[]> {
  const hosts = [{ host: 'api.example.com' }];
  const manifests = await render(withValues({ api: { ingress: { enabled: true, hosts }, httpRoute: { enabled: true } } }));
  const { rules } = find(manifests, 'Ingress', 'parley-api')['spec'] as {
    rules: { http: { paths: { path: string; pathType: string }[] } }[];
  };
  const route = find(manifests, 'HTTPRoute', 'parley-api')['spec'] as { rules: readonly HttpRouteRule[] };
  // The first versions of the Gateway API allowed a rule no more matches.
  for (const { matches } of route.rules) expect(matches.length).toBeLessThanOrEqual(8);
  return [
    rules.flatMap(({ http }) => http.paths.filter(({ pathType }) => pathType === 'Prefix').map(({ path }) => path)),
    route.rules.flatMap(({ matches }) => matches.filter(({ path }) => path.type === 'PathPrefix').map(({ path }) => path.value)),
  ];
}

describe('Ingress and HTTPRoute', () => {
  it('publish every route of the REST API, and neither metrics nor readiness', async () => {
    const routes = [...unstartedApi({ page: true }).descriptions.map(({ path }) => path), MEDIA_EVENTS_PATH];
    expect(routes).toEqual(expect.arrayContaining(inside));
    for (const prefixes of await published()) {
      const reached = (route: string): boolean => prefixes.some((prefix) => route === prefix || route.startsWith(`${prefix}/`));
      expect(routes.filter((route) => !reached(route)).toSorted()).toEqual(inside);
    }
  });

  it('take the paths that are given in place of them', async () => {
    const hosts = [{ host: 'api.example.com', paths: [{ path: '/' }] }];
    const own = await render(withValues({ api: { ingress: { enabled: true, hosts } } }));
    const { rules } = find(own, 'Ingress', 'parley-api')['spec'] as { rules: { http: { paths: object[] } }[] };
    expect(rules[0]?.http.paths).toEqual([expect.objectContaining({ path: '/', pathType: 'Prefix' })]);
  });
});
