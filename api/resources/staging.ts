/**
 * Defines the marks by which a write of several objects stays whole when the process dies between its steps.
 *
 * Everything that belongs to a new object is written before it, marked as staged: Secret, ConfigMap, tools made with an agent. The object
 * itself is what makes the write real; the marks come off afterwards and an owner reference is added. The finder of an old mark
 * (sweeper.ts) knows from the object whether to finish or to clean up. A new value for an object that exists is a new key next to the old
 * one: the object's own update switches over, and then the old key goes.
 */
import { wellKnown } from '../../crds/index.ts';
import type { OwnerReference, Stored, KubeObject } from '../../kube/types.ts';

/** Label with value `true`: a write is under way, or died. */
export const STAGED_LABEL = 'parley.dev/staged';
/** Annotation with a {@link Stage} as JSON. */
export const STAGE_ANNOTATION = 'parley.dev/stage';

export interface Stage {
  /** The object that the staged one belongs to. */
  readonly for: { readonly kind: string; readonly name: string };
  /** Time of the marking, RFC 3339. */
  readonly at: string;
  /** Keys of a Secret or ConfigMap that come or go: the object's references say which of them stay. */
  readonly keys: readonly string[];
}

export function stageMarks(stage: Stage): {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
} {
  return { labels: { [STAGED_LABEL]: 'true' }, annotations: { [STAGE_ANNOTATION]: JSON.stringify(stage) } };
}

/** Merge patch that takes the marks off. */
export const withoutMarks = { labels: { [STAGED_LABEL]: null }, annotations: { [STAGE_ANNOTATION]: null } } as const;

/** @returns undefined where another client wrote the annotation. */
export function stageOf(object: KubeObject): Stage | undefined {
  try {
    const stage = JSON.parse(object.metadata.annotations?.[STAGE_ANNOTATION] ?? '') as Stage;
    return typeof stage.for.name === 'string' && Array.isArray(stage.keys) && !Number.isNaN(Date.parse(stage.at)) ? stage : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the owner reference by which the garbage collector deletes `object`'s companions with it. */
export function ownerReferenceTo(object: Stored<KubeObject>): OwnerReference {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

export function isStagedFor(companion: KubeObject, { kind, name }: Stage['for']): boolean {
  const stage = stageOf(companion);
  return stage?.for.kind === kind && stage.for.name === name;
}

/**
 * Returns whether a companion is Parley's, for `owner`: it has the owner's reference, is still marked as staged for it, or has the label
 * and no owner at all, as after a restore until the operator has added the owner again.
 */
export function belongsTo(companion: KubeObject, { kind, metadata: { name, uid } }: Stored<KubeObject>): boolean {
  if (stageOf(companion) !== undefined) return isStagedFor(companion, { kind, name });
  const { ownerReferences = [], labels } = companion.metadata;
  if (ownerReferences.length === 0) return labels?.[wellKnown.companionOf] === kind.toLowerCase();
  return ownerReferences.some((owner) => owner.uid === uid);
}
