/** Checks whether this kubeconfig's user may do what it has to. */
import type { Transport } from '../../kube/index.ts';
import { listOrganizations } from '../cluster/organizations.ts';
import type { Reader } from '../cluster/reader.ts';
import { type Finding, findingsOf } from './finding.ts';
import { accessOf, type Audience, type Question, questionsOf } from './permissions.ts';

/** Most organisations that are asked about: a permission that is missing in one is missing in most. */
const MAX_ORGANIZATIONS = 20;
const AT_ONCE = 16;

export interface AccessOptions {
  /** The role or person whose permissions are checked. */
  readonly audience: Audience;
  /** Namespace of an installation that has but one. */
  readonly namespace?: string | undefined;
  /** Namespaces of organisations; where absent, those that this user can list. */
  readonly organizations?: readonly string[] | undefined;
  readonly leaseNamespace: string;
}

export async function* checkAccess(reader: Reader, options: AccessOptions): AsyncGenerator<Finding> {
  const organizations = await organizationsOf(reader, options);
  yield await checkPermissions(reader.transport, options, organizations);
  yield describeOrganizations(organizations, options);
}

/** Absent where they can't be listed. */
type Organizations = readonly string[] | undefined;

async function organizationsOf(reader: Reader, { namespace, organizations }: AccessOptions): Promise<Organizations> {
  if (namespace !== undefined) return [namespace];
  if (organizations !== undefined) return organizations;
  // The next check reports what else is wrong with the server.
  const namespaces = await listOrganizations(reader).catch(() => undefined);
  return namespaces?.map(({ metadata }) => metadata.name);
}

async function checkPermissions(transport: Transport, options: AccessOptions, organizations: Organizations): Promise<Finding> {
  const permissions = findingsOf('permissions');
  const { audience, namespace, leaseNamespace } = options;
  const accesses = accessOf(audience);
  const known = organizations?.slice(0, MAX_ORGANIZATIONS) ?? [];
  const questions = questionsOf(accesses, { namespace, organizations: known, leaseNamespace });
  const missing: Question[] = [];
  try {
    for (let at = 0; at < questions.length; at += AT_ONCE) {
      const asked = questions.slice(at, at + AT_ONCE);
      const answers = await Promise.all(asked.map((question) => mayI(transport, question)));
      missing.push(...asked.filter((_, index) => answers[index] !== true));
    }
  } catch (error) {
    return permissions.fail((error as Error).message, 'the API server has to serve authorization.k8s.io/v1');
  }
  const who = audience === 'installer' ? 'an installation and its roles' : `the ${audience}`;
  if (missing.length > 0)
    return permissions.fail(
      `missing for ${who}: ${describeMissing(missing)}`,
      audience === 'installer'
        ? 'use a kubeconfig whose user may, or name the role whose kubeconfig this is: --role operator, api, worker, dispatcher or voice'
        : 'grant them: the chart does (docs/install/least-privilege.md), in each namespace of its value `organizations`',
    );
  if (organizations === undefined && accesses.some(({ place }) => place === 'organization'))
    return permissions.warn(
      `${questions.length === 0 ? 'none' : `all ${questions.length}`} that ${who} needs outside organisations; this user can't list organisations`,
      'name some: --org <namespace>',
    );
  const all = organizations?.length ?? 0;
  const more = known.length < all ? `, in ${known.length} of ${all} organisations` : '';
  return permissions.ok(`all ${questions.length} that ${who} need${audience === 'installer' ? '' : 's'}${more}`);
}

/** Formats `patch agents.parley.dev; in acme: get secrets`. */
function describeMissing(missing: readonly Question[]): string {
  return [...Map.groupBy(missing, ({ namespace }) => namespace)]
    .map(([namespace, questions]) => {
      const list = questions.map(
        ({ verb, group, resource, name }) => `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}`,
      );
      return `${namespace === undefined ? '' : `in ${namespace}: `}${list.join(', ')}`;
    })
    .join('; ');
}

async function mayI(transport: Transport, { namespace, verb, group, resource: path, name }: Question): Promise<boolean> {
  const [resource, subresource] = path.split('/');
  const { status } = await transport.request<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    idempotent: true,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
    },
  });
  return status.allowed;
}

function describeOrganizations(found: Organizations, { namespace, organizations: named }: AccessOptions): Finding {
  const organizations = findingsOf('organisations');
  if (found === undefined) return organizations.warn("this user can't list them", 'name the organisations: --org <namespace>');
  if (namespace !== undefined) return organizations.ok(`${namespace} alone (PARLEY_NAMESPACE)`);
  if (named !== undefined) return organizations.ok(`${named.join(', ')}, as named`);
  if (found.length === 0) return organizations.warn('no organisation exists yet', 'parley org create <name>');
  return organizations.ok(found.length > 5 ? `${found.length}` : found.join(', '));
}
