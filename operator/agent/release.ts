/**
 * How the revision that may be served comes into service: at once, for a part of the calls first, or not at all because the spec pins
 * another one or it was rolled back. Pure; deciding again on the outcome decides nothing, so that a crash at any moment loses nothing.
 */
import { shortRevision } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { AgentSpec } from '../../crds/agent.ts';
import type { ReleaseChange, ReleaseFigures, ReleaseState } from '../../store/index.ts';
import type { Problem } from '../status/reasons.ts';

type Release = NonNullable<AgentSpec['release']>;
type Canary = NonNullable<Release['canary']>;
type RolledBack = ReleaseState['rolledBack'][number];

/** A revision that may be served. */
export interface Candidate {
  readonly revision: string;
  /** Of what the spec asks for, also where something that is missing was left out; null where nothing recorded it. */
  readonly configHash: string | null;
}

export interface ReleaseFacts {
  readonly release: Release | undefined;
  /** What the spec asks for, where it is sound and its tests let it through. */
  readonly target: (Candidate & { readonly configHash: string }) | undefined;
  /** `configHash` of the target itself, in which something that is missing may have been left out. */
  readonly ownHash?: string;
  /** Undefined for an agent that has never served. */
  readonly state: Omit<ReleaseState, 'version' | 'activeSince'> | undefined;
  /** The revision that `release.pin` names, where one that served before has that name. */
  readonly pinned?: Candidate | undefined;
  /** Of the canary's calls. */
  readonly figures?: ReleaseFigures | undefined;
}

export type ReleasePhase =
  | { readonly type: 'serving' }
  | { readonly type: 'canary' }
  | { readonly type: 'rolledBack'; readonly rolledBack: RolledBack }
  | { readonly type: 'pinned' }
  | { readonly type: 'pinUnknown'; readonly pin: string };

export interface ReleaseDecision {
  readonly phase: ReleasePhase;
  /** What to do now. */
  readonly step?: ReleaseChange;
  readonly reason?: string;
}

const SERVING: ReleasePhase = { type: 'serving' };
const CANARY: ReleasePhase = { type: 'canary' };

export function decideRelease({ release, target, ownHash, state, pinned, figures }: ReleaseFacts): ReleaseDecision {
  const { pin, canary: wanted } = release ?? {};
  if (pin !== undefined) return decidePinned(pin, target?.revision.startsWith(pin) === true ? target : pinned, state);
  if (state === undefined) return target === undefined ? { phase: SERVING } : { phase: SERVING, step: { type: 'serve', ...target } };
  const { canary } = state;
  const reason = canary === null || figures === undefined ? undefined : abortReason(wanted, figures);
  if (reason !== undefined) return { phase: CANARY, step: { type: 'abort' }, reason };
  if (target === undefined) return { phase: canary === null ? SERVING : CANARY };
  const rolledBack = state.rolledBack.findLast(
    ({ revision, configHash }) => revision === target.revision || configHash === target.configHash,
  );
  if (target.revision === state.revision && rolledBack === undefined) {
    if (canary !== null) return { phase: SERVING, step: { type: 'end_canary' } };
    const settled = state.rolledBack.length === 0 && state.configHash !== null;
    return settled ? { phase: SERVING } : { phase: SERVING, step: { type: 'settle', configHash: target.configHash } };
  }
  if (rolledBack !== undefined) {
    return { phase: { type: 'rolledBack', rolledBack }, ...(canary !== null && { step: { type: 'end_canary' } }) };
  }
  // A rotated Secret is nothing to try, and neither is doing without what is missing.
  if (wanted === undefined || target.configHash === state.configHash) return { phase: SERVING, step: { type: 'serve', ...target } };
  // It keeps its hash: what is missing has not been tried yet.
  if (ownHash === state.configHash)
    return { phase: SERVING, step: { type: 'serve', revision: target.revision, configHash: state.configHash } };
  const { percent } = wanted;
  if (canary?.revision !== target.revision) return { phase: CANARY, step: { type: 'begin_canary', ...target, percent } };
  if (canary.percent !== percent) return { phase: CANARY, step: { type: 'set_percent', percent } };
  return isOver(wanted, figures) ? { phase: SERVING, step: { type: 'promote' } } : { phase: CANARY };
}

/** A pin is as good as its revision: one that was rolled back waits for another pin. */
function decidePinned(pin: string, named: Candidate | undefined, state: ReleaseFacts['state']): ReleaseDecision {
  if (named === undefined) return { phase: { type: 'pinUnknown', pin } };
  const rolledBack = state?.rolledBack.findLast(({ revision }) => revision === named.revision);
  if (rolledBack !== undefined) return { phase: { type: 'rolledBack', rolledBack } };
  if (state?.revision === named.revision && state.canary === null) return { phase: { type: 'pinned' } };
  return { phase: { type: 'pinned' }, step: { type: 'serve', ...named, pinned: true } };
}

/** Why the canary is given up, with the numbers; undefined while nothing says so, or too few calls do. */
function abortReason(wanted: Canary | undefined, { calls, errors, p95VoiceToVoiceMs: p95, analysis }: ReleaseFigures): string | undefined {
  if (wanted === undefined || calls < wanted.minCalls) return undefined;
  const { errorRate, p95VoiceToVoiceMs: longest, analysis: judged } = wanted.abortOn;
  const rate = (100 * errors) / calls;
  const { results, value } = analysis;
  const found = [
    ...(errorRate !== undefined && rate > errorRate
      ? [`${short(rate)} % of its ${calls} calls ended as error, above ${errorRate} % (errorRate)`]
      : []),
    ...(longest !== undefined && p95 !== null && p95 > longest
      ? [`its p95 voice to voice is ${short(p95)} ms over ${calls} calls, above ${longest} ms (p95VoiceToVoiceMs)`]
      : []),
    ...(judged !== undefined && value !== null && results >= wanted.minCalls && value < judged.below
      ? [`the analysis ${judged.name} is ${short(value)} over ${results} calls, below ${judged.below} (analysis)`]
      : []),
  ];
  return found.length === 0 ? undefined : found.join('; ');
}

/** A limit holds only once there is a figure to hold against it. */
function isOver(wanted: Canary, figures: ReleaseFigures | undefined): boolean {
  if (figures === undefined || figures.elapsedMs < millisecondsOf(wanted.for) || figures.calls < wanted.minCalls) return false;
  const { p95VoiceToVoiceMs, analysis } = wanted.abortOn;
  if (p95VoiceToVoiceMs !== undefined && figures.p95VoiceToVoiceMs === null) return false;
  return analysis === undefined || figures.analysis.results >= wanted.minCalls;
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** What keeps new calls, or some of them, from starting with what the spec asks for. */
export function releaseProblem(
  { phase }: ReleaseDecision,
  { release, state }: Pick<ReleaseFacts, 'release' | 'state'>,
): Problem | undefined {
  const serving = state === undefined ? 'none' : shortRevision(state.revision);
  switch (phase.type) {
    case 'serving':
    case 'pinned':
      return undefined;
    case 'pinUnknown':
      return {
        reason: 'PinNotFound',
        message: `spec.release.pin: no revision ${phase.pin} has served, or several begin with it; new calls start with revision ${serving}`,
      };
    case 'rolledBack': {
      const { revision, aborted, reason, by, at } = phase.rolledBack;
      const what = aborted ? 'its canary was aborted' : `it was rolled back${by === null ? '' : ` by ${by}`}`;
      const why = reason === null ? '' : `: ${reason}`;
      return {
        reason: aborted ? 'CanaryAborted' : 'RolledBack',
        message: `revision ${shortRevision(revision)} is not served, ${what} at ${at.slice(0, 19)}Z${why}`,
      };
    }
    case 'canary': {
      const { revision = '', percent = 0 } = state?.canary ?? {};
      const { for: time, minCalls } = release?.canary ?? {};
      const when = time === undefined ? '' : `; it gets all of them after ${time} and ${String(minCalls)} calls`;
      return {
        reason: 'CanaryRunning',
        message: `${percent} % of new calls start with revision ${shortRevision(revision)}, the others with ${serving}${when}`,
      };
    }
    default:
      return phase satisfies never;
  }
}
