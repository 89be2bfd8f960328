import { microTime } from './timestamps.ts';
import type { KubeObject, ResourceDescriptor } from './types.ts';

/** `coordination.k8s.io/v1` Lease, as far as leader election goes. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** How long others wait for a holder that has fallen silent, in milliseconds. */
export const LEASE_MS = 15_000;

export interface LeaseSpec {
  /** `''` when it was released. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** MicroTime by the holder's clock: for people; no decision rests on it. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the holder changed. */
  readonly leaseTransitions?: number;
}

export const leases: ResourceDescriptor = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** Returns the record by which `identity` holds the lease from `now` on, after `before`. */
export function heldBy(identity: string, { before, now }: { readonly before: LeaseSpec | undefined; readonly now: number }): LeaseSpec {
  const renewing = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_MS / 1000,
    acquireTime: renewing && before.acquireTime !== undefined ? before.acquireTime : microTime(now),
    renewTime: microTime(now),
    leaseTransitions: before === undefined ? 0 : (before.leaseTransitions ?? 0) + (renewing ? 0 : 1),
  };
}

/** Returns the record that lets anyone take the lease at once. */
export function released(before: LeaseSpec, now: number): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now), acquireTime: microTime(now) };
}

/**
 * Judges by this process's own clock whether a holder is still alive: clocks of two machines can't be compared,
 * but a record that has not changed for its whole duration since it was first seen here has expired on every clock.
 */
export class LeaseObserver {
  #seen = '';
  #since = -Infinity;
  #durationMs = 0;
  #held = false;

  /** Takes note of the record as read at `monotonic`, in milliseconds. */
  observe(spec: LeaseSpec | undefined, monotonic: number): void {
    const seen = JSON.stringify([spec?.holderIdentity, spec?.renewTime, spec?.acquireTime, spec?.leaseTransitions]);
    this.#held = (spec?.holderIdentity ?? '') !== '';
    this.#durationMs = spec?.leaseDurationSeconds === undefined ? LEASE_MS : spec.leaseDurationSeconds * 1000;
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#since = monotonic;
  }

  /** Milliseconds until the lease may be taken; 0 when it may be now. */
  freeIn(monotonic: number): number {
    return this.#held ? Math.max(0, this.#since + this.#durationMs - monotonic) : 0;
  }
}
