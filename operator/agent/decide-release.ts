/**
 * Decides how the revision that may be served comes into service: at once, for a part of the calls first, or not at all because the spec pins
 * another one or it was rolled back. Pure; deciding again on the outcome decides nothing, so that a crash at any moment loses nothing.
 */
import { shortRevision } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { AgentSpec } from '../../crds/agent.ts';
import {
  hasAnyOf,
  isSame,
  mayRetry,
  type ReleaseChange,
  type ReleaseFigures,
  type ReleaseState,
  type RevisionParts,
} from '../../store/index.ts';
import type { Problem } from '../status/reasons.ts';

type Release = NonNullable<AgentSpec['release']>;
type Canary = NonNullable<Release['canary']>;
type RolledBackRevision = ReleaseState['rolledBack'][number];

export interface Candidate {
  readonly revision: string;
  /** Hash of what the spec asks for, also where something that is missing was left out; null where nothing recorded it. */
  readonly configHash: string | null;
}

export interface Target extends Candidate {
  readonly configHash: string;
  readonly parts: RevisionParts;
}

export interface ReleaseFacts {
  readonly release: Release | undefined;
  readonly target: Target;
  /** Whether it may be served: the spec is sound, and its tests let it through. */
  readonly open: boolean;
  /** Something that every call of the target needs is missing. */
  readonly lost?: boolean;
  /** `configHash` of the target itself, in which something that is missing may have been left out. */
  readonly ownHash?: string;
  /** Undefined for an agent that has never served. */
  readonly state: Omit<ReleaseState, 'version' | 'activeSince'> | undefined;
  /** The revision that `release.pin` names, where it has served. */
  readonly pinned?: Candidate | undefined;
  readonly figures?: ReleaseFigures | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type ReleasePhase =
  | { readonly type: 'serving' }
  | { readonly type: 'canary' }
  /** `alike`: the target is another revision, with the same change. */
  | { readonly type: 'rolledBack'; readonly rolledBack: RolledBackRevision; readonly alike: boolean }
  | { readonly type: 'pinned' };

export interface ReleaseDecision {
  readonly phase: ReleasePhase;
  /** `spec.release.pin`, where its revision has not served here. */
  readonly missing?: Release['pin'];
  readonly step?: ReleaseChange;
  readonly reason?: string;
}

/** An Agent that comes back within this time is the one that was deleted: a tool replaced or restored it. In milliseconds. */
export const REPLACED_WITHIN_MS = 3_600_000;

const SERVING: ReleasePhase = { type: 'serving' };
const CANARY: ReleasePhase = { type: 'canary' };

export function decideRelease(facts: ReleaseFacts): ReleaseDecision {
  const { release, target, state, pinned, now } = facts;
  if (wasReplaced(state, now)) return { phase: SERVING, step: { type: 'revive' } };
  const pin = release?.pin;
  if (pin === undefined) return decideUnpinned(facts);
  const asked = target.revision === pin.revision;
  const named = asked && facts.open ? target : pinned;
  if (named !== undefined) return decidePinned(named, state);
  // It waits for its tests.
  if (asked) return decideHeld(facts);
  return { ...(pin.onMissing === 'Serve' ? decideUnpinned(facts) : decideHeld(facts)), missing: pin };
}

type Held = ReleaseDecision & { readonly step?: Exclude<ReleaseChange, { type: 'serve' }> };

/** While an agent is suspended nothing is begun, and nothing promoted. */
export function decideSuspended({
  revision,
  ...facts
}: Pick<ReleaseFacts, 'release' | 'state' | 'figures' | 'now'> & { readonly revision: string | undefined }): Held {
  const { state, now } = facts;
  if (wasReplaced(state, now)) return { phase: SERVING, step: { type: 'revive' } };
  if (state?.canary != null) return decideHeld(facts);
  const rolledBack = state?.rolledBack.findLast((each) => each.revision === revision);
  return { phase: rolledBack === undefined ? SERVING : { type: 'rolledBack', rolledBack, alike: false } };
}

/** Nothing new comes into service; a canary that runs stays under its guard. */
function decideHeld({ release, target, lost = false, state, figures }: Partial<ReleaseFacts>): Held {
  const canary = state?.canary ?? null;
  if (canary === null) return { phase: SERVING };
  const reason = figures && abortReason(release?.canary, figures);
  if (reason !== undefined) return { phase: CANARY, step: { type: 'abort' }, reason };
  if (lost && canary.configHash === target?.configHash) return { phase: SERVING, step: { type: 'end_canary' } };
  return { phase: CANARY };
}

function wasReplaced(state: ReleaseFacts['state'], now: number): boolean {
  return state?.retiredAt != null && now < state.retiredAt.getTime() + REPLACED_WITHIN_MS;
}

function decideUnpinned({ release, target, open, lost = false, ownHash, state, figures }: ReleaseFacts): ReleaseDecision {
  const wanted = release?.canary;
  const { revision, configHash } = target;
  const canary = state?.canary ?? null;
  const aborted = canary === null || figures === undefined ? undefined : abortReason(wanted, figures);
  if (aborted !== undefined) return { phase: CANARY, step: { type: 'abort' }, reason: aborted };
  const withheld = state === undefined ? undefined : withheldBy(target, state, wanted !== undefined);
  if (withheld !== undefined)
    return { phase: { type: 'rolledBack', ...withheld }, ...(canary !== null && { step: { type: 'end_canary' } }) };
  if (canary !== null && lost && canary.configHash === configHash) return { phase: SERVING, step: { type: 'end_canary' } };
  if (!open) return { phase: canary === null ? SERVING : CANARY };
  const serve: ReleaseDecision = { phase: SERVING, step: { type: 'serve', revision, configHash } };
  if (state === undefined || state.retiredAt !== null) return serve;
  if (revision === state.revision) {
    if (canary !== null) return { phase: SERVING, step: { type: 'end_canary' } };
    const settled = state.configHash !== null && !state.rolledBack.some(mayRetry);
    return settled ? { phase: SERVING } : { phase: SERVING, step: { type: 'settle', configHash } };
  }
  // A rotated Secret is nothing to try, and neither is doing without what is missing.
  if (wanted === undefined || configHash === state.configHash) return serve;
  // It keeps its hash: what is missing has not been tried yet.
  if (ownHash === state.configHash) return { phase: SERVING, step: { type: 'serve', revision, configHash: state.configHash } };
  const { percent } = wanted;
  if (canary?.revision !== revision) return { phase: CANARY, step: { type: 'begin_canary', revision, configHash, percent } };
  if (canary.percent !== percent) return { phase: CANARY, step: { type: 'set_percent', percent } };
  return missingFigures(wanted, figures).length === 0 ? { phase: SERVING, step: { type: 'promote' } } : { phase: CANARY };
}

/** A pin is as good as its revision: one that was rolled back waits for another pin. */
function decidePinned({ revision, configHash }: Candidate, state: ReleaseFacts['state']): ReleaseDecision {
  const rolledBack = state?.rolledBack.findLast((each) => isSame(each, { revision, configHash }));
  if (rolledBack !== undefined) return { phase: { type: 'rolledBack', rolledBack, alike: false } };
  if (state?.revision === revision && state.canary === null && state.retiredAt === null) return { phase: { type: 'pinned' } };
  return { phase: { type: 'pinned' }, step: { type: 'serve', revision, configHash, pinned: true } };
}

/**
 * A revision that was rolled back stays so until somebody names it, and so does whatever has the same change. What serves has been let through.
 * An aborted canary has another chance with other tools, or once the agent has been edited back: but only as a canary.
 */
function withheldBy(
  target: Target,
  { revision, configHash, rolledBack }: NonNullable<ReleaseFacts['state']>,
  asCanary: boolean,
): { readonly rolledBack: RolledBackRevision; readonly alike: boolean } | undefined {
  const same = rolledBack.findLast((each) => isSame(each, target) && !(asCanary && each.retry === true));
  if (same !== undefined) return { rolledBack: same, alike: false };
  if (isSame(target, { revision, configHash })) return undefined;
  const alike = rolledBack.findLast((each) => !(each.aborted && asCanary) && hasAnyOf(target.parts, each.changed));
  return alike && { rolledBack: alike, alike: true };
}

/** Returns why the canary is given up, with the numbers; undefined while nothing says so. */
function abortReason(wanted: Canary | undefined, figures: ReleaseFigures): string | undefined {
  if (wanted === undefined) return undefined;
  const bad = badFigures(wanted, figures);
  if (bad !== undefined) return bad;
  const missing = missingFigures(wanted, figures);
  // While it waits for its time alone nothing is missing.
  if (missing.length === 0 || figures.elapsedMs < Math.max(millisecondsOf(wanted.deadline), millisecondsOf(wanted.for))) return undefined;
  return `after ${wanted.deadline} (deadline) it has ${missing.join(' and ')}`;
}

function badFigures(wanted: Canary, { calls, errors, p95VoiceToVoiceMs: p95, analysis }: ReleaseFigures): string | undefined {
  if (calls < wanted.minCalls) return undefined;
  const { errorPercent, p95VoiceToVoice, analysis: judged } = wanted.abortOn ?? {};
  const rate = (100 * errors) / calls;
  const { results, value } = analysis;
  const found = [
    ...(errorPercent !== undefined && rate > errorPercent
      ? [`${short(rate)} % of its ${calls} calls ended as error, above ${errorPercent} % (errorPercent)`]
      : []),
    ...(p95VoiceToVoice !== undefined && p95 !== null && p95 > millisecondsOf(p95VoiceToVoice)
      ? [`its p95 voice to voice is ${short(p95)}ms over ${calls} calls, above ${p95VoiceToVoice} (p95VoiceToVoice)`]
      : []),
    ...(judged !== undefined && value !== null && results >= wanted.minCalls && value < Number(judged.below)
      ? [`the analysis ${judged.name} is ${short(value)} over ${results} calls, below ${judged.below} (analysis)`]
      : []),
  ];
  return found.length === 0 ? undefined : found.join('; ');
}

/** Returns what a canary still waits for before it is promoted: a limit holds only once there is a figure to hold against it. */
function missingFigures(wanted: Canary, figures: ReleaseFigures | undefined): readonly string[] {
  if (figures === undefined) return ['no figures yet'];
  const { for: time, minCalls, abortOn = {} } = wanted;
  const { elapsedMs, calls, p95VoiceToVoiceMs, analysis } = figures;
  return [
    ...(calls < minCalls ? [`${calls} of ${minCalls} calls`] : []),
    ...(abortOn.p95VoiceToVoice !== undefined && p95VoiceToVoiceMs === null ? ['no p95VoiceToVoice yet, for want of spoken answers'] : []),
    ...(abortOn.analysis !== undefined && analysis.results < minCalls
      ? [`${analysis.results} of ${minCalls} results of the analysis ${abortOn.analysis.name}`]
      : []),
    ...(elapsedMs < millisecondsOf(time) ? [`not run for ${time}`] : []),
  ];
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Returns why new calls, or some of them, start with something else than the spec asks for: `Synced` has the reason of the first. */
export function releaseProblems(
  { phase, missing }: ReleaseDecision,
  { release, state, figures, target }: Pick<ReleaseFacts, 'release' | 'state' | 'figures'> & { readonly target: Pick<Target, 'revision'> },
): readonly Problem[] {
  const serving = state === undefined || state.retiredAt !== null ? undefined : shortRevision(state.revision);
  const problems: Problem[] = [];
  const where = `spec.release.pin: revision ${shortRevision(missing?.revision ?? '')} has not served here`;
  if (missing?.onMissing === 'Hold') {
    const meanwhile = serving === undefined ? 'no call is taken' : `new calls go on with revision ${serving}`;
    problems.push({
      reason: 'PinNotFound',
      message: `${where}, so nothing new comes into service and ${meanwhile}; pin another revision, or set onMissing: Serve`,
    });
  }
  if (phase.type === 'rolledBack') {
    const { revision, aborted, reason, by, at, changed } = phase.rolledBack;
    const what = aborted ? 'its canary was aborted' : `it was rolled back${by === null ? '' : ` by ${by}`}`;
    const why = reason === null ? '' : `: ${reason}`;
    const part = changed?.agent === undefined ? 'tools' : 'agent spec';
    const alike = `revision ${shortRevision(target.revision)} is not served, because it has the ${part} of revision ${shortRevision(revision)}`;
    problems.push({
      reason: aborted ? 'CanaryAborted' : 'RolledBack',
      message: `${phase.alike ? `${alike}, and` : `revision ${shortRevision(revision)} is not served,`} ${what} at ${at.slice(0, 19)}Z${why}`,
    });
  }
  if (missing?.onMissing === 'Serve')
    problems.push({ reason: 'PinPassedOver', message: `${where}, so new calls start with what the spec asks for (onMissing: Serve)` });
  if (phase.type === 'canary') {
    const { revision = '', percent = 0 } = state?.canary ?? {};
    const wanted = release?.canary;
    const lacking = wanted === undefined ? [] : missingFigures(wanted, figures);
    const when = wanted === undefined ? '' : `; it gets all of them after ${wanted.for} and ${String(wanted.minCalls)} calls`;
    const soFar = lacking.length === 0 ? '' : `, and has so far ${lacking.join(', ')}`;
    problems.push({
      reason: 'CanaryRunning',
      message: `${percent} % of new calls start with revision ${shortRevision(revision)}, the others with ${serving ?? 'none'}${when}${soFar}`,
    });
  }
  return problems;
}
