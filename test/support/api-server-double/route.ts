/** From an HTTP request to what it asks for. */
import type { Served } from './resource.ts';

export interface Route {
  readonly resource: Served;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: 'status' | undefined;
}

/** @returns undefined where the API server says `404 page not found`. */
export function route(path: string, resources: readonly Served[]): Route | undefined {
  const match =
    /^\/(?:api\/(?<core>v[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>status))?$/.exec(
      path,
    );
  if (match?.groups === undefined) return undefined;
  const { core, group = '', version = core, namespace, plural, name, subresource } = match.groups;
  // `/api/v1/namespaces/x/status` is the status of a namespace; nothing here asks for it.
  const resource = resources.find(
    ({ descriptor }) => descriptor.group === group && descriptor.version === version && descriptor.plural === plural,
  );
  if (resource === undefined || (namespace !== undefined) === !resource.descriptor.namespaced) {
    if (resource === undefined || namespace !== undefined || name !== undefined) return undefined;
  }
  if (subresource !== undefined && !resource.statusSubresource) return undefined;
  return {
    resource,
    namespace: namespace === undefined ? undefined : decodeURIComponent(namespace),
    name: name === undefined ? undefined : decodeURIComponent(name),
    subresource: subresource === undefined ? undefined : 'status',
  };
}
