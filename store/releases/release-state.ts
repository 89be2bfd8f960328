/**
 * Which revision serves, which one is tried, and what each change makes of that. Pure.
 *
 *   serve ──▶ revision                 begin_canary ──▶ revision + canary ──▶ promote ──▶ canary's revision
 *   rollback ──▶ a former revision                                      └──▶ abort, end_canary ──▶ revision
 *   retire ──▶ no new call, and nothing forgotten ──▶ revive ──▶ as before, serve ──▶ revision
 */
import { changedParts, type RevisionParts } from './revision-parts.ts';

export interface CanaryState {
  readonly revision: string;
  /** Of what the spec asked for, apart from the versions of Secrets. */
  readonly configHash: string;
  /** Of 100 new calls. */
  readonly percent: number;
  /** Since when the configuration is tried: a rotated Secret makes another revision of it. */
  readonly since: Date;
}

/** A revision that is not served again until somebody names it: only `promote` and `rollback --to` forget it. */
export interface RolledBackRevision {
  readonly revision: string;
  readonly configHash: string | null;
  /** What it has and the revision that serves instead has not: whatever has it too is not served either. Null where nobody knows. */
  readonly changed: RevisionParts | null;
  /** Its canary was aborted; otherwise a person rolled it back. */
  readonly aborted: boolean;
  /** Of an aborted one: the agent has been edited back since, so that asking for it again is worth another canary. */
  readonly retry?: true;
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
  /** Since when the Agent is deleted, and no new call starts; its successor of the same name goes on from here. */
  readonly retiredAt: Date | null;
  /** A person had it serve, whatever its figures and tests said. */
  readonly promoted: Promotion | null;
  /** Of all calls, whichever of the revisions they start with. No change of a release touches it. */
  readonly budget?: ServingBudget | undefined;
}

export interface Promotion {
  readonly by: string | null;
  readonly reason: string | null;
  /** RFC 3339. */
  readonly at: string;
}

export type ReleaseChange =
  /** `pinned`: because the spec names it. */
  | { readonly type: 'serve'; readonly revision: string; readonly configHash: string | null; readonly pinned?: boolean }
  | { readonly type: 'begin_canary'; readonly revision: string; readonly configHash: string; readonly percent: number }
  | { readonly type: 'set_percent'; readonly percent: number }
  /** The canary serves all calls. */
  | { readonly type: 'promote' }
  /** A person has the canary serve all calls, or what was rolled back: the revision that is named, or the last. */
  | { readonly type: 'force_promote'; readonly revision?: string | undefined }
  | { readonly type: 'abort' }
  /** The spec asks for it no longer. */
  | { readonly type: 'end_canary' }
  /** What serves is what the spec asks for: an aborted canary of another agent's spec may be tried again. */
  | { readonly type: 'settle'; readonly configHash: string }
  /** The Agent is deleted. */
  | { readonly type: 'retire' }
  /** The Agent is there again. */
  | { readonly type: 'revive' }
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

/** What `apply` can't know by itself. */
export interface ChangeContext extends Author {
  readonly now: Date;
  /** Of the revisions that are stored. */
  readonly partsOf?: (revision: string) => RevisionParts | undefined;
}

/** @returns undefined for a change of what isn't there, and for one that changes nothing */
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

/** Revisions that differ in the versions of Secrets alone are one. */
export function isSame(
  a: { readonly revision: string; readonly configHash: string | null },
  b: { readonly revision: string; readonly configHash: string | null },
): boolean {
  return a.revision === b.revision || (a.configHash !== null && a.configHash === b.configHash);
}

/** Whether its next `settle` lets an aborted one be tried again: not where only tools came and went. */
export function mayRetry({ aborted, retry, changed }: RolledBackRevision): boolean {
  return aborted && retry === undefined && changed?.agent !== undefined;
}
