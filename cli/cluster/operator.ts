/** Finds out by its Lease whether an operator is running. */
import { leases, type Lease } from '../../kube/index.ts';
import { LEASE_NAME } from '../../operator/lease-name.ts';
import { installedDeployments, roleOf, type InstallationScope } from './installation.ts';
import type { Reader } from './reader.ts';

export interface OperatorReport {
  readonly state: 'leading' | 'silent' | 'none' | 'unknown';
  readonly holder?: string;
  readonly lastSign?: string;
}

export interface OperatorScope extends InstallationScope {
  /** Namespace of the Lease when no Deployment shows it: `PARLEY_LEASE_NAMESPACE`. */
  readonly leaseNamespace: string;
}

/** Returns the operator of the installation; of several, one that is not running. */
export async function findOperator(reader: Reader, scope: OperatorScope, now: number): Promise<OperatorReport> {
  const deployments = (await installedDeployments(reader, scope)) ?? [];
  const homes = new Set(deployments.flatMap((each) => (roleOf(each) === 'operator' ? [each.metadata.namespace ?? ''] : [])));
  const operators = await Promise.all([...homes].map((namespace) => readOperator(reader, { namespace, installed: true, now })));
  return (
    operators.find(({ state }) => state !== 'leading') ??
    operators[0] ??
    readOperator(reader, { namespace: scope.systemNamespace ?? scope.leaseNamespace, installed: false, now })
  );
}

/** @param where.installed true if the operator is known to be installed in this namespace: then it must have a Lease */
export async function readOperator(
  reader: Reader,
  { namespace, installed, now }: { readonly namespace: string; readonly installed: boolean; readonly now: number },
): Promise<OperatorReport> {
  const { group, version, plural } = leases;
  const path = `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${plural}/${LEASE_NAME}`;
  const lease = await reader.get<Lease>(path, `the operator's Lease ${namespace}/${LEASE_NAME}`);
  if (lease === 'refused') return { state: 'unknown' };
  if (lease === undefined) return { state: installed ? 'none' : 'unknown' };
  const { holderIdentity: holder = '', renewTime, leaseDurationSeconds = 15 } = lease.spec ?? {};
  const lastSign = renewTime === undefined ? {} : { lastSign: renewTime };
  if (holder === '') return { state: 'none', ...lastSign };
  const silent = now - Date.parse(renewTime ?? '') > leaseDurationSeconds * 2_000;
  return { state: silent ? 'silent' : 'leading', holder, ...lastSign };
}
