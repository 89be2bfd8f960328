/**
 * Which revision serves, which one is tried, and what each change makes of that. Pure.
 *
 *   serve ──▶ revision                 begin_canary ──▶ revision + canary ──▶ promote ──▶ canary's revision
 *   rollback ──▶ a former revision                                      └──▶ abort, end_canary ──▶ revision
 */
export interface CanaryState {
  readonly revision: string;
  /** Of what the spec asked for, apart from the versions of Secrets. */
  readonly configHash: string;
  /** Of 100 new calls. */
  readonly percent: number;
  /** Since when the configuration is tried: a rotated Secret makes another revision of it. */
  readonly since: Date;
}

/** A revision that is not served again by itself. */
export interface RolledBackRevision {
  readonly revision: string;
  readonly configHash: string | null;
  /** Its figures were worse than its canary allowed; otherwise a person rolled it back. */
  readonly aborted: boolean;
  readonly reason: string | null;
  readonly by: string | null;
  /** RFC 3339. */
  readonly at: string;
}

/** What the calls of an agent may cost in a day. */
export interface ServingBudget {
  /** Decimal. */
  readonly daily: string;
  readonly currency: string;
  /** That its days are of. */
  readonly timeZone: string;
}

export interface ReleaseState {
  /** Grows with each change. */
  readonly version: number;
  /** What new calls start with. */
  readonly revision: string;
  /** Null where a former version of Parley served it. */
  readonly configHash: string | null;
  readonly activeSince: Date;
  /** What a part of them start with. */
  readonly canary: CanaryState | null;
  readonly rolledBack: readonly RolledBackRevision[];
  /** Of all calls, whichever of the revisions they start with. No change of a release touches it. */
  readonly budget?: ServingBudget | undefined;
}

export type ReleaseChange =
  /** `pinned`: because the spec names it; what was rolled back stays rolled back. */
  | { readonly type: 'serve'; readonly revision: string; readonly configHash: string | null; readonly pinned?: boolean }
  | { readonly type: 'begin_canary'; readonly revision: string; readonly configHash: string; readonly percent: number }
  | { readonly type: 'set_percent'; readonly percent: number }
  /** The canary serves all calls, or what was rolled back last serves again. */
  | { readonly type: 'promote' }
  | { readonly type: 'abort' }
  /** The spec asks for it no longer. */
  | { readonly type: 'end_canary' }
  /** What serves is what the spec asks for: what was rolled back before it may come again. */
  | { readonly type: 'settle'; readonly configHash: string }
  /** Ends a canary, if there is one, and goes to the revision, which serves already where only the canary is to end. */
  | { readonly type: 'rollback'; readonly to: string; readonly configHash: string | null };

export interface Author {
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

/** What is written down of a change. */
export interface ReleaseRecord extends Author {
  readonly change: 'served' | 'pinned' | 'canary_began' | 'canary_ended' | 'promoted' | 'aborted' | 'rolled_back';
  readonly revision: string;
  readonly configHash: string | null;
  readonly replaced: string | null;
  /** Of new calls that start with `revision`. */
  readonly percent: number;
}

export interface Transition {
  readonly state: Omit<ReleaseState, 'version'>;
  /** Absent where new calls start with the same as before. */
  readonly record?: ReleaseRecord;
}

/** Most revisions that are remembered as rolled back. */
const ROLLED_BACK_LIMIT = 50;

/** @returns undefined for a change of what isn't there, and for one that changes nothing */
export function applyChange(
  state: ReleaseState,
  change: ReleaseChange,
  { now, by, reason }: Author & { readonly now: Date },
): Transition | undefined {
  const { version: _version, ...before } = state;
  const { canary } = before;
  const author = { by, reason };
  const setAside = (revision: string, configHash: string | null, aborted: boolean): readonly RolledBackRevision[] =>
    [
      ...before.rolledBack.filter((other) => other.revision !== revision),
      { revision, configHash, aborted, reason: reason ?? null, by: by ?? null, at: now.toISOString() },
    ].slice(-ROLLED_BACK_LIMIT);
  const moved = (to: string, configHash: string | null) => ({
    ...before,
    revision: to,
    configHash,
    canary: null,
    activeSince: to === before.revision ? before.activeSince : now,
  });
  switch (change.type) {
    case 'serve': {
      const { revision, configHash, pinned = false } = change;
      const next = { ...moved(revision, configHash), rolledBack: pinned ? before.rolledBack : [] };
      if (revision === before.revision && canary === null) {
        return configHash === before.configHash && next.rolledBack.length === before.rolledBack.length ? undefined : { state: next };
      }
      const replaced = revision === before.revision ? (canary?.revision ?? null) : before.revision;
      return { state: next, record: { ...author, change: pinned ? 'pinned' : 'served', revision, configHash, replaced, percent: 100 } };
    }
    case 'begin_canary': {
      const { revision, configHash, percent } = change;
      const since = canary?.configHash === configHash ? canary.since : now;
      return {
        state: { ...before, canary: { revision, configHash, percent, since } },
        record: { ...author, change: 'canary_began', revision, configHash, replaced: canary?.revision ?? null, percent },
      };
    }
    case 'set_percent':
      return canary === null || canary.percent === change.percent
        ? undefined
        : { state: { ...before, canary: { ...canary, percent: change.percent } } };
    case 'promote': {
      const next = canary ?? before.rolledBack.at(-1);
      if (next === undefined) return undefined;
      const { revision, configHash } = next;
      return {
        state: { ...moved(revision, configHash), rolledBack: [] },
        record: { ...author, change: 'promoted', revision, configHash, replaced: before.revision, percent: 100 },
      };
    }
    case 'abort':
    case 'end_canary': {
      if (canary === null) return undefined;
      const aborted = change.type === 'abort';
      const { revision, configHash } = before;
      return {
        state: { ...before, canary: null, rolledBack: aborted ? setAside(canary.revision, canary.configHash, true) : before.rolledBack },
        record: { ...author, change: aborted ? 'aborted' : 'canary_ended', revision, configHash, replaced: canary.revision, percent: 100 },
      };
    }
    case 'settle':
      return { state: { ...before, configHash: before.configHash ?? change.configHash, rolledBack: [] } };
    case 'rollback': {
      const { to, configHash } = change;
      const gone = canary ?? before;
      if (canary === null && to === before.revision) return undefined;
      const rolledBack = setAside(gone.revision, gone.configHash, false).filter(({ revision }) => revision !== to);
      return {
        state: { ...moved(to, to === before.revision ? before.configHash : configHash), rolledBack },
        record: { ...author, change: 'rolled_back', revision: to, configHash, replaced: gone.revision, percent: 100 },
      };
    }
    default:
      return change satisfies never;
  }
}
