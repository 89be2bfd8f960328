/**
 * Computes which revision serves and which one is tried after each change. Pure.
 *
 *   serve ──▶ revision                 begin_canary ──▶ revision + canary ──▶ promote ──▶ canary's revision
 *   rollback ──▶ a former revision                                      └──▶ abort, end_canary ──▶ revision
 *   retire ──▶ no new call, and nothing forgotten ──▶ revive ──▶ as before, serve ──▶ revision
 */
import { changedParts, type RevisionParts } from './revision-parts.ts';

export interface CanaryState {
  readonly revision: string;
  /** Hash of the configuration in the spec, without the versions of Secrets. */
  readonly configHash: string;
  /** Percent of new calls that start with the canary. */
  readonly percent: number;
  /** Time at which the configuration's canary began: a rotated Secret makes another revision of it. */
  readonly since: Date;
}

/** A revision that is not served again until somebody names it: only `promote` and `rollback --to` forget it. */
export interface RolledBackRevision {
  readonly revision: string;
  readonly configHash: string | null;
  /**
   * Parts that it has and the revision that serves instead has not: a revision with any of them is not served either. Null where they are
   * unknown.
   */
  readonly changed: RevisionParts | null;
  /** True if its canary was aborted; otherwise a person rolled it back. */
  readonly aborted: boolean;
  /** True if the agent has been edited back since the abort, so that asking for the revision again is worth another canary. */
  readonly retry?: true;
  readonly reason: string | null;
  readonly by: string | null;
  /** RFC 3339 time. */
  readonly at: string;
}

/** The limit of an agent's call costs in a day. */
export interface ServingBudget {
  /** The amount as a decimal number. */
  readonly daily: string;
  readonly currency: string;
  /** IANA name of the time zone that its days are of. */
  readonly timeZone: string;
}

export interface ReleaseState {
  /** Grows with each change. */
  readonly version: number;
  readonly revision: string;
  /** Null where a former version of Parley served it. */
  readonly configHash: string | null;
  readonly activeSince: Date;
  /** The revision that a part of new calls start with. */
  readonly canary: CanaryState | null;
  readonly rolledBack: readonly RolledBackRevision[];
  /** Time at which the Agent was deleted: no new call starts since; a successor of the same name goes on from here. */
  readonly retiredAt: Date | null;
  /** Set if a person promoted the revision, whatever its figures and tests said. */
  readonly promoted: Promotion | null;
  /** The budget for all calls, whichever of the revisions they start with. No change of a release touches it. */
  readonly budget?: ServingBudget | undefined;
}

export interface Promotion {
  readonly by: string | null;
  readonly reason: string | null;
  /** RFC 3339 time. */
  readonly at: string;
}

export type ReleaseChange =
  /** Serves a revision. `pinned`: the spec names it. */
  | { readonly type: 'serve'; readonly revision: string; readonly configHash: string | null; readonly pinned?: boolean }
  | { readonly type: 'begin_canary'; readonly revision: string; readonly configHash: string; readonly percent: number }
  | { readonly type: 'set_percent'; readonly percent: number }
  | { readonly type: 'promote' }
  /** Lets the canary, or a rolled-back revision, serve all calls for a person: the revision that is named, or the last. */
  | { readonly type: 'force_promote'; readonly revision?: string | undefined }
  | { readonly type: 'abort' }
  /** Ends a canary that the spec asks for no longer. */
  | { readonly type: 'end_canary' }
  /** Records that the serving revision is the spec's: an aborted canary of another spec of the agent may be tried again. */
  | { readonly type: 'settle'; readonly configHash: string }
  /** Stops new calls, because the Agent is deleted. */
  | { readonly type: 'retire' }
  /** Goes on where `retire` stopped, because the Agent is there again. */
  | { readonly type: 'revive' }
  /** Ends a canary, if there is one, and goes to the revision, which serves already where only the canary is to end. */
  | { readonly type: 'rollback'; readonly to: string; readonly configHash: string | null };

export interface Author {
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

export interface ReleaseRecord extends Author {
  readonly change: 'served' | 'pinned' | 'canary_began' | 'canary_ended' | 'promoted' | 'aborted' | 'rolled_back';
  readonly revision: string;
  readonly configHash: string | null;
  readonly replaced: string | null;
  /** Percent of new calls that start with `revision`. */
  readonly percent: number;
}

export interface Transition {
  readonly state: Omit<ReleaseState, 'version'>;
  /** Absent where new calls start with the same revision as before. */
  readonly record?: ReleaseRecord;
}

/** Most revisions that are remembered as rolled back. */
const ROLLED_BACK_LIMIT = 50;

/** The facts that {@link applyChange} needs besides the state. */
export interface ChangeContext extends Author {
  readonly now: Date;
  readonly partsOf?: (revision: string) => RevisionParts | undefined;
}

/** @returns undefined for a change of something that isn't there, and for one that changes nothing */
export function applyChange(
  state: ReleaseState,
  change: ReleaseChange,
  { now, by, reason, partsOf = () => undefined }: ChangeContext,
): Transition | undefined {
  const { version: _version, ...before } = state;
  const { canary } = before;
  const author = { by, reason };
  const signature = { reason: reason ?? null, by: by ?? null, at: now.toISOString() };
  const setAside = (
    { revision, configHash }: Pick<RolledBackRevision, 'revision' | 'configHash'>,
    instead: string,
    aborted: boolean,
  ): readonly RolledBackRevision[] =>
    [
      ...before.rolledBack.filter((other) => other.revision !== revision),
      { revision, configHash, changed: changedParts(partsOf(instead), partsOf(revision)), aborted, ...signature },
    ].slice(-ROLLED_BACK_LIMIT);
  const moved = (to: string, configHash: string | null) => ({
    ...before,
    revision: to,
    configHash,
    canary: null,
    activeSince: to === before.revision && before.retiredAt === null ? before.activeSince : now,
    retiredAt: null,
    promoted: configHash !== null && configHash === before.configHash ? before.promoted : null,
  });
  const promoted = (next: Pick<RolledBackRevision, 'revision' | 'configHash'>, promotion: Promotion | null): Transition => {
    const rolledBack = before.rolledBack.filter((other) => !isSame(other, next));
    const { revision, configHash } = next;
    return {
      state: { ...moved(revision, configHash), rolledBack, promoted: promotion },
      record: { ...author, change: 'promoted', revision, configHash, replaced: before.revision, percent: 100 },
    };
  };
  switch (change.type) {
    case 'serve': {
      const { revision, configHash, pinned = false } = change;
      const next = moved(revision, configHash);
      if (revision === before.revision && canary === null && before.retiredAt === null)
        return configHash === before.configHash ? undefined : { state: next };
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
    case 'promote':
      return canary === null ? undefined : promoted(canary, null);
    case 'force_promote': {
      const next =
        change.revision === undefined
          ? (canary ?? before.rolledBack.at(-1))
          : [...before.rolledBack, ...(canary === null ? [] : [canary])].find(({ revision }) => revision === change.revision);
      return next === undefined ? undefined : promoted(next, signature);
    }
    case 'abort':
    case 'end_canary': {
      if (canary === null) return undefined;
      const aborted = change.type === 'abort';
      const { revision, configHash } = before;
      return {
        state: { ...before, canary: null, rolledBack: aborted ? setAside(canary, revision, true) : before.rolledBack },
        record: { ...author, change: aborted ? 'aborted' : 'canary_ended', revision, configHash, replaced: canary.revision, percent: 100 },
      };
    }
    case 'settle': {
      const rolledBack = before.rolledBack.map((each) => (mayRetry(each) ? { ...each, retry: true as const } : each));
      return { state: { ...before, configHash: before.configHash ?? change.configHash, rolledBack } };
    }
    case 'retire':
      return before.retiredAt === null ? { state: { ...before, retiredAt: now } } : undefined;
    case 'revive': {
      if (before.retiredAt === null) return undefined;
      const { revision, configHash } = before;
      return {
        state: { ...before, retiredAt: null, activeSince: now },
        record: { ...author, change: 'served', revision, configHash, replaced: null, percent: 100 - (canary?.percent ?? 0) },
      };
    }
    case 'rollback': {
      const { to, configHash } = change;
      const gone = canary ?? before;
      if (isSame(gone, { revision: to, configHash })) return undefined;
      const rolledBack = setAside(gone, to, false).filter((other) => !isSame(other, { revision: to, configHash }));
      return {
        state: { ...moved(to, to === before.revision ? before.configHash : configHash), rolledBack },
        record: { ...author, change: 'rolled_back', revision: to, configHash, replaced: gone.revision, percent: 100 },
      };
    }
    default:
      return change satisfies never;
  }
}

/** Treats revisions that differ in the versions of Secrets alone as one. */
export function isSame(
  a: { readonly revision: string; readonly configHash: string | null },
  b: { readonly revision: string; readonly configHash: string | null },
): boolean {
  return a.revision === b.revision || (a.configHash !== null && a.configHash === b.configHash);
}

/** Tells whether the next `settle` lets an aborted canary be tried again: not where only tools came and went. */
export function mayRetry({ aborted, retry, changed }: RolledBackRevision): boolean {
  return aborted && retry === undefined && changed?.agent !== undefined;
}
