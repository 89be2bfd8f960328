/** Turns a decision about a release into the actions, Events and status of an agent's plan. Pure. */
import { shortRevision, type AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Agent, AgentStatus } from '../../crds/index.ts';
import type { ReleaseChange, RevisionParts } from '../../store/index.ts';
import type { Notice } from '../runtime/reconciler.ts';
import { findCondition } from '../../crds/kind.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { ConditionStage, PlannedCondition } from '../status/conditions.ts';
import { reasons, type Problem, type Reason } from '../status/reasons.ts';
import type { Gate } from './gate.ts';
import {
  decideRelease,
  decideSuspended,
  releaseProblems,
  type Candidate,
  type ReleaseDecision,
  type ReleaseFacts,
} from './decide-release.ts';
import type { CompiledRevision } from './revision.ts';

export interface ReleaseView extends Pick<ReleaseFacts, 'figures'> {
  readonly state: NonNullable<ReleaseFacts['state']>;
}

interface Tested {
  /** The `configHash` for which its required tests have passed; absent where they don't decide. */
  readonly testedAs?: string;
}

export type ReleaseAction =
  | (Tested & {
      readonly type: 'serve';
      readonly revision: string;
      readonly configHash: string | null;
      /** Absent where the spec pins a revision that is stored. */
      readonly config?: AgentRevisionConfig;
      readonly parts?: RevisionParts;
      readonly pinned?: boolean;
    })
  | (Tested & {
      readonly type: 'release';
      readonly change: Exclude<ReleaseChange, { type: 'serve' }>;
      readonly reason?: string;
      readonly config?: AgentRevisionConfig;
      readonly parts?: RevisionParts;
    });

export interface ReleaseInput {
  readonly agent: Agent;
  /** The revision that the spec asks for; it may lack something, under the hash of the whole. */
  readonly target: CompiledRevision;
  readonly desired: CompiledRevision;
  /** Whether the target may be served, and why. */
  readonly open: Gate['open'];
  /** Something that every call needs is missing. */
  readonly lost: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The revision that serves; by the status, where Postgres is unavailable. */
  readonly serving: { readonly revision: string } | undefined;
  /** Undefined while Postgres is unavailable: nothing can be done then. */
  readonly store: { readonly release?: ReleaseView; readonly pinned?: Candidate | undefined } | undefined;
}

export interface ReleasePlan {
  readonly actions: readonly ReleaseAction[];
  readonly notices: readonly Notice[];
  /** Stands in place of what `Synced` would say. */
  readonly synced?: ConditionStage;
  /** `Progressing` of a release that goes on, or was taken back, whatever else the agent lacks; absent where `Synced` says all. */
  readonly progressing?: PlannedCondition;
  /** Message of a `Ready=True`. */
  readonly message?: string;
  readonly pinned: boolean;
  /** The pin decides, whatever the tests of the spec's own revision say. */
  readonly fixed: boolean;
  readonly requeueAfterMs?: number;
  readonly status: Pick<AgentStatus, 'canary'>;
}

/** How often the figures of a canary are looked at, in milliseconds: an abort has to reach new calls within two seconds. */
const CANARY_LOOK_MS = 1_000;
const PINNED = 'new calls start with the revision that spec.release.pin names';

export function planRelease(input: ReleaseInput): ReleasePlan {
  const { agent, target, open, store } = input;
  const facts: ReleaseFacts = {
    release: agent.spec.release,
    target: { revision: target.revision, configHash: input.desired.configHash, parts: input.desired.parts },
    open: open !== false,
    lost: input.lost,
    now: input.now,
    ownHash: target.configHash,
    state: stateIn(input),
    pinned: pinnedIn(input),
    figures: store?.release?.figures,
  };
  if (store === undefined)
    return { actions: [], notices: [], ...reportedProgress(agent), pinned: false, fixed: false, status: reportedCanary(agent) };
  const decision = decideRelease(facts);
  const problems = decision.step === undefined ? releaseProblems(decision, facts) : [];
  const [first] = problems;
  const pinned = decision.phase.type === 'pinned' && decision.step === undefined;
  return {
    actions: actionsOf(decision, input),
    notices: noticesOf(decision),
    pinned,
    fixed: pinned || first?.reason === 'PinNotFound',
    ...progressOf(problems),
    ...(first !== undefined && { synced: syncedBy(first, problems), message: first.message }),
    ...(pinned && { synced: { type: 'Synced', good: { reason: 'RevisionPinned', message: PINNED }, problems: [] }, message: PINNED }),
    ...(facts.state?.canary && { requeueAfterMs: CANARY_LOOK_MS }),
    status: canaryOf(facts),
  };
}

/** Plans the release of a suspended agent: whatever its spec asks for by now, the canary that runs is aborted by its figures. */
export function planSuspendedRelease(
  agent: Agent,
  view: ReleaseView | undefined,
  now: number,
): Pick<ReleasePlan, 'actions' | 'notices' | 'progressing' | 'requeueAfterMs' | 'status'> {
  if (view === undefined) return { actions: [], notices: [], ...reportedProgress(agent), status: reportedCanary(agent) };
  const { state, figures } = view;
  const { release } = agent.spec;
  const revision = agent.status?.desiredRevision ?? '';
  const decision = decideSuspended({ release, revision, state, figures, now });
  const facts = { release, state, figures, target: { revision } };
  const problems = decision.step === undefined ? releaseProblems(decision, facts) : [];
  return {
    actions:
      decision.step === undefined
        ? []
        : [{ type: 'release', change: decision.step, ...(decision.reason !== undefined && { reason: decision.reason }) }],
    notices: noticesOf(decision),
    ...progressOf(problems),
    ...(state.canary && { requeueAfterMs: CANARY_LOOK_MS }),
    status: canaryOf({ state }),
  };
}

/** While a canary runs, the outside world is as the spec asks for. */
function syncedBy({ reason, message }: Problem, problems: readonly Problem[]): ConditionStage {
  return { type: 'Synced', good: { reason, message }, problems: reasons[reason].status === 'True' ? [] : problems };
}

function actionsOf({ step, reason }: ReleaseDecision, { target, desired, open }: ReleaseInput): readonly ReleaseAction[] {
  if (step === undefined) return [];
  const isTarget = 'revision' in step && step.revision === target.revision;
  const more = {
    ...(isTarget && { config: target.config, parts: desired.parts }),
    ...((isTarget || step.type === 'promote') && open === 'passed' && { testedAs: target.configHash }),
  };
  if (step.type === 'serve') return [{ ...step, ...more }];
  return [{ type: 'release', change: step, ...more, ...(reason !== undefined && { reason }) }];
}

/** Returns `Progressing` of a canary, or of what was taken back. */
function progressOf(problems: readonly Problem[]): Pick<ReleasePlan, 'progressing'> {
  const [progressing] = problems.flatMap(({ reason, message }): readonly PlannedCondition[] => {
    const status = reasons[reason].progressing;
    return status === undefined ? [] : [{ type: 'Progressing', status, reason, message }];
  });
  return { ...(progressing && { progressing }) };
}

function noticesOf({ step, reason }: ReleaseDecision): readonly Notice[] {
  if (step?.type === 'abort')
    return [{ type: 'Warning', reason: 'CanaryAborted', message: `new calls start with the former revision again: ${reason ?? ''}` }];
  if (step?.type === 'promote')
    return [{ type: 'Normal', reason: 'CanaryPromoted', message: 'the canary kept its limits: all new calls start with its revision' }];
  if (step?.type !== 'begin_canary') return [];
  const message = `${step.percent} % of new calls start with revision ${shortRevision(step.revision)}`;
  return [{ type: 'Normal', reason: 'CanaryBegan', message }];
}

/** Without Postgres, the state comes from the status, and says nothing of canaries and rollbacks. */
function stateIn({ serving, desired, store }: ReleaseInput): ReleaseFacts['state'] {
  if (store?.release !== undefined) return store.release.state;
  return (
    serving && { revision: serving.revision, configHash: desired.configHash, canary: null, rolledBack: [], retiredAt: null, promoted: null }
  );
}

/** A pin that serves needs no looking up. */
function pinnedIn({ agent, serving, store }: ReleaseInput): ReleaseFacts['pinned'] {
  const pin = agent.spec.release?.pin;
  if (pin !== undefined && serving?.revision === pin.revision)
    return { revision: serving.revision, configHash: store?.release?.state.configHash ?? null };
  return store?.pinned;
}

function canaryOf({ state }: Pick<ReleaseFacts, 'state'>): Pick<AgentStatus, 'canary'> {
  if (!state?.canary) return {};
  const { revision, percent, since } = state.canary;
  return { canary: { revision, percent, since: timestamp(since) } };
}

/** Repeats the condition while Postgres is unavailable: the release is as far as it was. */
function reportedProgress(agent: Agent): Pick<ReleasePlan, 'progressing'> {
  const { reason, message } = findCondition(agent, 'Progressing') ?? {};
  return message === undefined ? {} : progressOf([{ reason: reason as Reason, message }]);
}

function reportedCanary({ status }: Agent): Pick<AgentStatus, 'canary'> {
  return status?.canary === undefined ? {} : { canary: status.canary };
}
