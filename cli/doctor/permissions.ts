/** Lists what each role has to be allowed: the rules of the chart (a test compares them), as questions to the API server. */
import { GROUP, kinds } from '../../crds/index.ts';
import { LEASE_NAME } from '../../operator/lease-name.ts';
import { ROLE_NAMES, type RoleName } from '../../platform/role-names.ts';

/** A role, or the person who installs and therefore grants all permissions. */
export type Audience = 'installer' | RoleName;

/**
 * Names where a permission is needed. `cluster`: for objects that have no namespace. `everywhere`: in all namespaces, or in the one of an
 * installation that has but one. `organization`: in the namespaces of organisations alone. `lease`: where the operator's Lease is.
 */
export type AccessScope = 'cluster' | 'everywhere' | 'organization' | 'lease';

export interface Access {
  readonly place: AccessScope;
  readonly verb: string;
  readonly group: string;
  /** `agents` or `agents/status`. */
  readonly resource: string;
  /** Name of the only object that is meant. */
  readonly name?: string;
}

/** Asks the API server: may I? */
export interface Question extends Omit<Access, 'place'> {
  /** Absent for all namespaces. */
  readonly namespace?: string;
}

export interface AccessNamespaces {
  /** Namespace of an installation that has but one (`PARLEY_NAMESPACE`). */
  readonly namespace?: string | undefined;
  /** Namespaces of organisations; `namespace` counts instead of them. */
  readonly organizations: readonly string[];
  readonly leaseNamespace: string;
}

const plurals = kinds.map(({ descriptor }) => descriptor.plural);
const parts = (part: string): readonly string[] => plurals.map((plural) => `${plural}/${part}`);

const every = (
  place: AccessScope,
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  name?: string,
): readonly Access[] =>
  resources.flatMap((resource) => verbs.map((verb) => ({ place, verb, group, resource, ...(name !== undefined && { name }) })));

const deliveries: readonly Access[] = [
  ...every('everywhere', GROUP, ['webhooksubscriptions', 'agents'], ['get', 'list', 'watch']),
  ...every('organization', '', ['secrets'], ['get', 'list', 'watch']),
];

const ofRoles: Readonly<Record<RoleName, readonly Access[]>> = {
  operator: [
    ...every('everywhere', GROUP, plurals, ['get', 'list', 'watch', 'patch']),
    ...every('everywhere', GROUP, parts('status'), ['get', 'patch']),
    ...every('everywhere', 'events.k8s.io', ['events'], ['create', 'patch']),
    ...every('cluster', '', ['namespaces'], ['get', 'list', 'watch']),
    ...every('organization', '', ['secrets'], ['get', 'list', 'watch', 'create', 'patch']),
    ...every('organization', '', ['configmaps'], ['get', 'list', 'watch', 'patch']),
    ...every('lease', 'coordination.k8s.io', ['leases'], ['create']),
    ...every('lease', 'coordination.k8s.io', ['leases'], ['get', 'update'], LEASE_NAME),
  ],
  api: [
    ...every('everywhere', GROUP, plurals, ['get', 'list', 'watch']),
    ...every('cluster', '', ['namespaces'], ['get']),
    ...every('organization', GROUP, plurals, ['create', 'update', 'patch', 'delete']),
    ...every('organization', GROUP, ['agenttests'], ['require']),
    ...every('organization', GROUP, parts('finalizers'), ['update']),
    ...every('organization', '', ['secrets', 'configmaps'], ['get', 'list', 'create', 'update', 'patch', 'delete']),
  ],
  worker: deliveries,
  dispatcher: [...deliveries, ...every('everywhere', GROUP, ['webhooksubscriptions/status'], ['patch'])],
  voice: every('organization', '', ['secrets'], ['get']),
};

const installer: readonly Access[] = [
  ...every('cluster', 'apiextensions.k8s.io', ['customresourcedefinitions'], ['get', 'create', 'patch']),
  ...every('cluster', 'rbac.authorization.k8s.io', ['clusterroles', 'clusterrolebindings'], ['get', 'create', 'patch']),
  ...every(
    'cluster',
    'admissionregistration.k8s.io',
    ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    ['get', 'create', 'patch'],
  ),
  ...every('cluster', '', ['namespaces'], ['create', 'patch']),
  ...every('everywhere', 'rbac.authorization.k8s.io', ['roles', 'rolebindings'], ['get', 'create', 'patch']),
  // The chart adds this to Kubernetes' roles `edit` and `admin`, in addition to what the roles may do.
  ...every('everywhere', GROUP, plurals, ['deletecollection']),
  ...every('everywhere', GROUP, ['agents'], ['skip-tests']),
  ...every('everywhere', GROUP, ['agents', 'phonenumbers', 'knowledgebases'], ['orphan']),
];

/** Returns what `audience` has to be allowed, without repetitions. */
export function accessOf(audience: Audience): readonly Access[] {
  if (audience !== 'installer') return ofRoles[audience];
  // A user who grants something has to be allowed it; and a ClusterRole for organisations is granted before there are any.
  const granted = ROLE_NAMES.flatMap((role) => ofRoles[role]).map((access) =>
    access.place === 'organization' ? everywhere(access) : access,
  );
  return distinct([...installer, ...granted]);
}

/** Returns the questions for the API server. */
export function questionsOf(
  accesses: readonly Access[],
  { namespace, organizations, leaseNamespace }: AccessNamespaces,
): readonly Question[] {
  const namespaces: Readonly<Record<AccessScope, readonly (string | undefined)[]>> = {
    cluster: namespace === undefined ? [undefined] : [],
    everywhere: [namespace],
    organization: namespace === undefined ? organizations : [namespace],
    lease: [leaseNamespace],
  };
  return distinct(
    accesses.flatMap(({ place, ...access }) =>
      namespaces[place].map((where): Question => (where === undefined ? access : Object.assign({ namespace: where }, access))),
    ),
  );
}

const everywhere = (access: Access): Access => ({ ...access, place: 'everywhere' });

function distinct<T>(items: readonly T[]): readonly T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
