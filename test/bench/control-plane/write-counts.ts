/** Counts who writes what to the API server, by the API server's own metrics. */
import type { Labels, Metrics } from '../harness/prometheus.ts';

/** Requests that change something, by what they change. */
export interface WriteCounts {
  /** Status of the six kinds: only the operator writes it. */
  readonly status: number;
  /** Finalizers: a merge patch of the object. The benchmark's own writes are applies and do not count. */
  readonly finalizers: number;
  readonly events: number;
  readonly secretsAndConfigMaps: number;
  /** Renewals of leases, the operator's among them. */
  readonly leases: number;
}

const total = 'apiserver_request_total';
const writing = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'];

const kinds: Readonly<Record<keyof WriteCounts, Labels>> = {
  status: { group: 'parley.dev', subresource: 'status', verb: writing },
  finalizers: { group: 'parley.dev', subresource: '', verb: ['PATCH', 'PUT'] },
  events: { resource: 'events', verb: writing },
  secretsAndConfigMaps: { group: '', resource: ['secrets', 'configmaps'], verb: writing },
  leases: { resource: 'leases', verb: writing },
};

export function countWrites(after: Metrics, before: Metrics): WriteCounts {
  const entries = Object.entries(kinds).map(([kind, labels]) => [kind, (after.sum(total, labels) ?? 0) - (before.sum(total, labels) ?? 0)]);
  return Object.fromEntries(entries) as WriteCounts;
}
