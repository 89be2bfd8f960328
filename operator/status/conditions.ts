import { findCondition } from '../../crds/kind.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { Condition } from '../../kube/types.ts';
import { fitText } from '../../platform/cut-text.ts';
import { conditionTypes, reasons, type ConditionType, type Problem, type Reason } from './reasons.ts';

export interface PlannedCondition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
}

/** The outcome of one stage: its problems, or the reason and message without any. */
export interface ConditionStage {
  readonly type: 'Accepted' | 'ResolvedRefs' | 'Tested' | 'Synced' | 'UpToDate' | 'EndpointHealthy';
  readonly good: { readonly reason: Reason; readonly message: string };
  readonly problems: readonly Problem[];
}

export interface ReadyMessage {
  /** Message of a `Ready=True`. */
  readonly message: string;
  /** Added to the message of a `Ready=False`. */
  readonly aside?: string | undefined;
  /** Conditions that are no stage: `Ready` doesn't depend on them. */
  readonly others?: readonly PlannedCondition[];
}

/** Longest message of a condition, in characters; the API server allows 32,768. */
const MESSAGE_LIMIT = 2_000;
/** A person reads the first few; the others appear once these are solved. */
const PROBLEMS_SHOWN = 5;

function describe(problems: readonly Problem[]): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((problem) => problem.message);
  const more = problems.length - shown.length;
  const text = more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
  return fitText(text, MESSAGE_LIMIT);
}

export function conditionFrom(stage: ConditionStage): PlannedCondition {
  const [first] = stage.problems;
  if (first === undefined) return { type: stage.type, status: 'True', ...stage.good };
  const { status } = reasons[first.reason];
  return { type: stage.type, status, reason: first.reason, message: describe(stage.problems) };
}

/**
 * Sums the stages up. The first stage that keeps the object from being ready gives `Ready` its reason and message;
 * whether a person is needed decides between `Stalled` and `Reconciling`, so that exactly one of the two accompanies
 * every `Ready=False`, and neither a `Ready=True`.
 */
export function summarize(stages: readonly ConditionStage[], ready: ReadyMessage): readonly PlannedCondition[] {
  const { others = [] } = ready;
  const conditions = stages.map(conditionFrom);
  const failed = conditions.find(({ status, reason }) => status !== 'True' && reasons[reason].blocks !== undefined);
  if (failed === undefined)
    return [{ type: 'Ready', status: 'True', reason: 'Available', message: ready.message }, ...conditions, ...others];
  const message = ready.aside === undefined ? failed.message : `${failed.message} (${ready.aside})`;
  return [{ type: 'Ready', status: 'False', reason: failed.reason, message }, ...conditions, ...others, progress(failed)];
}

/** Returns `Stalled` or `Reconciling`, for a failure. */
function progress(failed: Pick<PlannedCondition, 'reason' | 'message'>): PlannedCondition {
  return reasons[failed.reason].blocks === 'retry'
    ? { type: 'Reconciling', status: 'True', reason: 'Retrying', message: failed.message }
    : { type: 'Stalled', status: 'True', reason: failed.reason, message: failed.message };
}

/**
 * Completes planned conditions: stamped with the generation, in a fixed order, keeping the transition time of a
 * condition whose status did not change.
 *
 * @param now - milliseconds since the epoch
 */
export function toConditions(
  planned: readonly PlannedCondition[],
  previous: readonly Condition[] | undefined,
  options: { readonly generation: number; readonly now: number },
): Condition[] {
  const before = new Map((previous ?? []).map((condition) => [condition.type, condition]));
  return [...planned]
    .sort((a, b) => conditionTypes.indexOf(a.type) - conditionTypes.indexOf(b.type))
    .map(({ type, status, reason, message }) => {
      const old = before.get(type);
      const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(options.now);
      return { type, status, reason, message, observedGeneration: options.generation, lastTransitionTime };
    });
}

/** Whether the operator takes its namespace for an organisation: that of a single namespace does so without the label. */
export function isServed(object: Parameters<typeof findCondition>[0]): boolean {
  const accepted = findCondition(object, 'Accepted');
  return accepted !== undefined && accepted.reason !== 'NotAnOrganization';
}
