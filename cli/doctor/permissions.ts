import { GROUP, kinds } from '../../crds/index.ts';

/** Who is asked about: a role, or the person who installs and therefore grants to all. */
export type Audience = 'installer' | 'operator' | 'api' | 'dispatcher';

export interface Access {
  readonly verb: string;
  readonly group: string;
  /** `agents` or `agents/status`. */
  readonly resource: string;
  readonly namespace?: string;
}

const plurals = kinds.map(({ descriptor }) => descriptor.plural);

const every = (group: string, resources: readonly string[], verbs: readonly string[], namespace?: string): readonly Access[] =>
  resources.flatMap((resource) => verbs.map((verb) => ({ verb, group, resource, ...(namespace === undefined ? {} : { namespace }) })));

const operator: readonly Access[] = [
  ...every(GROUP, plurals, ['get', 'list', 'watch', 'patch']),
  ...every(
    GROUP,
    plurals.map((plural) => `${plural}/status`),
    ['patch'],
  ),
  ...every('', ['secrets'], ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete']),
  ...every('', ['configmaps', 'namespaces'], ['get', 'list', 'watch']),
  ...every('events.k8s.io', ['events'], ['create', 'patch']),
  ...every('coordination.k8s.io', ['leases'], ['get', 'create', 'update'], 'parley-system'),
];

const api: readonly Access[] = [
  ...every(GROUP, plurals, ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  ...every('', ['secrets', 'configmaps'], ['get', 'create', 'patch', 'delete']),
  ...every('', ['namespaces'], ['get', 'list', 'watch']),
];

/** The worker, too: both make deliveries. */
const dispatcher: readonly Access[] = [
  ...every(GROUP, ['webhooksubscriptions', 'agents'], ['get', 'list', 'watch']),
  ...every(GROUP, ['webhooksubscriptions/status'], ['patch']),
  ...every('', ['secrets'], ['get', 'list', 'watch']),
];

const installer: readonly Access[] = [
  ...every('apiextensions.k8s.io', ['customresourcedefinitions'], ['get', 'create', 'patch']),
  ...every('rbac.authorization.k8s.io', ['clusterroles', 'clusterrolebindings'], ['get', 'create', 'patch']),
  ...every('', ['namespaces'], ['create', 'patch']),
];

/** What `audience` has to be allowed, without repetitions. */
export function accessOf(audience: Audience): readonly Access[] {
  const roles = { operator, api, dispatcher };
  const all = audience === 'installer' ? [...installer, ...operator, ...api, ...dispatcher] : roles[audience];
  return [...new Map(all.map((access) => [JSON.stringify(access), access])).values()];
}
