/** Reads everything that `status` says, once, with the permissions of the user. */
import { GROUP, kinds, VERSION, wellKnown, type KindDefinition } from '../../../crds/index.ts';
import { keyOf, type Condition, type KubeObject } from '../../../kube/index.ts';
import { isServed } from '../../../operator/status/conditions.ts';
import { version as clientVersion } from '../../../platform/version.ts';
import { builtIn } from '../../cluster/descriptors.ts';
import { installed, installedDeployments, installedPods, roleOf } from '../../cluster/installation.ts';
import { findOperator, type OperatorReport } from '../../cluster/operator.ts';
import { readNamespace, seesAllNamespaces } from '../../cluster/organizations.ts';
import type { Reader } from '../../cluster/reader.ts';
import type { ClusterConnection } from '../connection.ts';
import { reportDeployments, type DeploymentReport } from './deployments.ts';
import { reportResource, type ResourceReport, type WithStatus } from './resources.ts';
import { readDefinition, type DefinitionFacts } from '../../cluster/definitions.ts';

export interface KindReport {
  readonly kind: string;
  readonly plural: string;
  /** Absent where they may not be listed. */
  readonly resources?: readonly ResourceReport[];
}

export interface StatusProblem {
  readonly what: string;
  readonly reason: string;
  readonly message: string;
  readonly cure?: string;
}

export interface StatusReport {
  readonly ready: boolean;
  readonly client: string;
  readonly cluster: { readonly server: string; readonly context: string; readonly version: string };
  /** Absent for all of them. */
  readonly namespace?: string;
  /** True if the namespace has the label of an organisation; absent where that is not known, and where there is no such namespace. */
  readonly organization?: boolean;
  /** Absent where no Deployment may be listed; empty where the chart has not installed any that can be seen. */
  readonly deployments?: readonly DeploymentReport[];
  readonly operator: OperatorReport;
  readonly definitions: readonly DefinitionReport[];
  readonly kinds: readonly KindReport[];
  readonly problems: readonly StatusProblem[];
  /** Notes on what could not be looked at. */
  readonly notes: readonly string[];
}

interface Job extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly succeeded?: number };
}

export async function gatherStatus(reader: Reader, connection: ClusterConnection, now: number): Promise<StatusReport> {
  const namespace = await namespaceToShow(reader, connection);
  const [version, deployments, pods, jobs, operator, definitions, read, standing] = await Promise.all([
    reader.version(),
    installedDeployments(reader, connection),
    installedPods(reader, connection),
    installed<Job>(reader, builtIn.jobs, connection),
    findOperator(reader, connection, now),
    reportDefinitions(reader),
    Promise.all((kinds as readonly KindDefinition[]).map((kind) => readKind(reader, kind, namespace))),
    namespace === undefined ? 'unknown' : readNamespace(reader, namespace),
  ]);
  const reports = deployments && reportDeployments(deployments, pods ?? []);
  const kindReports = read.map(({ report }) => report);
  const served = namespace !== undefined && read.some(({ isOrganization }) => isOrganization);
  const problems = [
    ...(standing === 'missing' ? [missingNamespace(namespace ?? '')] : []),
    ...(reports ?? []).flatMap(problemOfDeployment),
    ...(jobs ?? []).flatMap(problemOfJob),
    ...problemOfOperator(operator),
    ...definitions.flatMap((one) =>
      one.healthy
        ? []
        : [{ what: `definition ${one.name}`, reason: 'Definition', message: one.state, ...(one.cure && { cure: one.cure }) }],
    ),
    ...kindReports.flatMap(({ resources = [] }) => resources.flatMap((one) => problemOfResource(one, namespace === undefined))),
  ];
  const blind = kindReports.every(({ resources }) => resources === undefined);
  if (blind && definitions.some(({ healthy }) => healthy)) {
    problems.push({
      what: namespace === undefined ? 'all namespaces' : `namespace ${namespace}`,
      reason: 'Forbidden',
      message: 'none of the kinds may be listed, so nothing is known of them',
      cure: 'ask for the role `view` there, or name a namespace that you may see with -n',
    });
  }
  return {
    ready: problems.length === 0,
    client: clientVersion,
    cluster: {
      server: reader.transport.server,
      context: connection.context,
      version: version.gitVersion,
    },
    ...(namespace !== undefined && { namespace }),
    ...((standing === 'organization' || standing === 'other') && { organization: standing === 'organization' || served }),
    ...(reports !== undefined && { deployments: reports }),
    operator,
    definitions,
    kinds: kindReports,
    problems,
    notes: reader.notes,
  };
}

/** Returns `undefined` for all namespaces. A user who asks for all and may not see them gets the one of the context. */
async function namespaceToShow(reader: Reader, { allNamespaces, namespace }: ClusterConnection): Promise<string | undefined> {
  if (!allNamespaces) return namespace;
  if (await seesAllNamespaces(reader)) return undefined;
  reader.note(`so only the namespace ${namespace} is shown`);
  return namespace;
}

function missingNamespace(namespace: string): StatusProblem {
  return {
    what: `namespace ${namespace}`,
    reason: 'NotFound',
    message: 'there is no such namespace',
    cure: `name another one with -n: kubectl get namespaces -l ${wellKnown.organizationLabel}=true lists the organisations`,
  };
}

/** @returns with the report whether the operator takes the namespace of one of the objects for an organisation */
async function readKind(
  reader: Reader,
  { descriptor }: KindDefinition,
  namespace: string | undefined,
): Promise<{ readonly report: KindReport; readonly isOrganization: boolean }> {
  const objects = await reader.list<WithStatus>(descriptor, { namespace });
  const about = { kind: descriptor.kind, plural: descriptor.plural };
  if (objects === undefined) return { report: about, isOrganization: false };
  const resources = objects.map(reportResource).sort((a, b) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name));
  return { report: { ...about, resources }, isOrganization: objects.some(isServed) };
}

function problemOfDeployment({ healthy, namespace, name, reason = '', message = '', cure }: DeploymentReport): readonly StatusProblem[] {
  return healthy ? [] : [{ what: `deployment ${namespace}/${name}`, reason, message, ...(cure !== undefined && { cure }) }];
}

function problemOfJob(job: Job): readonly StatusProblem[] {
  const failed = job.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True');
  if (failed === undefined) return [];
  const { namespace = '' } = job.metadata;
  const logs = `kubectl logs -n ${namespace} -l app.kubernetes.io/component=${roleOf(job)} --tail=50`;
  return [{ what: `job ${keyOf(job)}`, reason: failed.reason, message: failed.message, cure: `its log says why: ${logs}` }];
}

function problemOfOperator(operator: OperatorReport): readonly StatusProblem[] {
  const cure = 'start an operator: its Deployment, `parley operator`, or `parley dev`';
  if (operator.state === 'silent')
    return [
      {
        what: 'operator',
        reason: 'Silent',
        message: `${operator.holder ?? ''} stopped renewing its Lease at ${operator.lastSign ?? ''}`,
        cure,
      },
    ];
  if (operator.state === 'none') return [{ what: 'operator', reason: 'NoLeader', message: 'no operator is running', cure }];
  return [];
}

function problemOfResource(one: ResourceReport, withNamespace: boolean): readonly StatusProblem[] {
  if (one.state === 'ready') return [];
  const what = `${one.kind.toLowerCase()}/${one.name}${withNamespace ? ` -n ${one.namespace}` : ''}`;
  return [{ what, reason: one.reason, message: one.message, ...(one.cure !== undefined && { cure: one.cure }) }];
}

interface DefinitionReport extends Pick<DefinitionFacts, 'name' | 'versions' | 'storedVersions'> {
  readonly healthy: boolean;
  /** State in words: `as in 0.1.0`, `differs from 0.1.0`, `established`. */
  readonly state: string;
  readonly cure?: string;
}

/** Reports the state of the resource definitions; of those that may not be read, whether discovery knows them. */
async function reportDefinitions(reader: Reader): Promise<readonly DefinitionReport[]> {
  const definitions = await Promise.all((kinds as readonly KindDefinition[]).map((kind) => readDefinition(reader, kind)));
  const served = definitions.some(({ state }) => state === 'refused') ? await servedNames(reader) : new Set<string>();
  return definitions.map((facts) => reportDefinition(facts, served));
}

/** Every user of the API server may ask what it serves. */
async function servedNames(reader: Reader): Promise<ReadonlySet<string>> {
  const path = `/apis/${GROUP}/${VERSION}`;
  const group = await reader.get<{ readonly resources: readonly { readonly name: string }[] }>(path, `what the group ${GROUP} serves`);
  return new Set(group === 'refused' ? [] : group?.resources.map(({ name }) => `${name}.${GROUP}`));
}

function reportDefinition({ state, message, ...about }: DefinitionFacts, served: ReadonlySet<string>): DefinitionReport {
  const { name } = about;
  const unhealthy = (text: string, cure: string): DefinitionReport => ({ ...about, healthy: false, state: text, cure });
  switch (state) {
    case 'same':
      return { ...about, healthy: true, state: `as in ${clientVersion}` };
    case 'different':
      return { ...about, healthy: true, state: `differs from ${clientVersion}` };
    case 'outdated':
      return unhealthy(`lacks the version ${VERSION}`, 'upgrade the chart or its subchart `crds`');
    case 'unestablished':
      return unhealthy(
        message === undefined ? 'not established yet' : `not established: ${message}`,
        `kubectl describe crd ${name} shows why`,
      );
    default:
      if (served.has(name)) return { name, versions: [VERSION], healthy: true, state: 'served' };
      return unhealthy('not installed', 'install the chart or its subchart `crds`, or: kubectl apply --server-side -f crds/generated/');
  }
}
