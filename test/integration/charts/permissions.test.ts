/** doctor looks for just what the chart grants: it would call more missing, and would miss what it doesn't look for. */
import { expect, it } from 'vitest';

import { accessOf, type AccessScope } from '../../../cli/doctor/permissions.ts';
import { ROLE_NAMES, type RoleName } from '../../../platform/role-names.ts';
import { NAMESPACE, ofKind, render, type Rendered, withValues } from './helm.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

it.each(ROLE_NAMES)('of the %s', async (role) => {
  const manifests = await render(withValues({ organizations: ['acme'] }));
  const granted = [...bound(manifests, 'ClusterRoleBinding', role), ...bound(manifests, 'RoleBinding', role)];
  const wanted = accessOf(role).map(({ place, group, resource, verb, name }) => write(place, group, resource, verb, name));
  expect(wanted.toSorted()).toEqual(granted.toSorted());
});

/** Returns every permission that bindings of this kind give to the role. */
function bound(manifests: readonly Rendered[], kind: string, role: RoleName): readonly string[] {
  return ofKind(manifests, kind)
    .filter(({ subjects }) => (subjects as readonly { readonly name: string }[]).some(({ name }) => name === `parley-${role}`))
    .flatMap(({ metadata, roleRef }) => {
      const { kind: ofRole, name } = roleRef as { readonly kind: string; readonly name: string };
      const rules = ofKind(manifests, ofRole).find((each) => each.metadata.name === name)?.['rules'] as readonly Rule[];
      return rules.flatMap((rule) => permissions(rule, metadata.namespace));
    });
}

function permissions({ apiGroups, resources, verbs, resourceNames = [undefined as never] }: Rule, namespace?: string): readonly string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => write(placeOf(resource, namespace), group, resource, verb, name))),
    ),
  );
}

function placeOf(resource: string, namespace: string | undefined): AccessScope {
  if (namespace === undefined) return resource === 'namespaces' ? 'cluster' : 'everywhere';
  return namespace === NAMESPACE ? 'lease' : 'organization';
}

function write(place: AccessScope, group: string, resource: string, verb: string, name?: string): string {
  return `${place}: ${verb} ${resource}.${group} ${name ?? ''}`.trim();
}
