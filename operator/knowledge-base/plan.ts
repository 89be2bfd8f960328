import type { KnowledgeBase, KnowledgeBaseStatus } from '../../crds/index.ts';
import { knowledgeBaseProblems } from '../../crds/limits.ts';
import { collectionSpecOf, configuredNames, unknownRerankProfile } from '../../knowledge/collection-spec.ts';
import type { Config } from '../../platform/config/config.ts';
import type { CollectionSpec } from '../../store/index.ts';
import { ingesting } from './ingesting.ts';
import { knowledgeBaseReferences } from '../references/references-of.ts';
import { displayNameTaken, notAnOrganization, unresolved } from '../references/unresolved.ts';
import { displayNameOf, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { FinalizerAction, Notice, Plan } from '../runtime/reconciler.ts';
import { commonFields, hasFinalizer, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';
import type { ConditionStage } from '../status/conditions.ts';
import { planBlockedDeletion } from '../runtime/blocked-deletion.ts';
import { sameJson } from '../../platform/json.ts';
import type { Problem } from '../status/reasons.ts';
import { specProblems } from '../status/spec-problems.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { planSources, sourceProblems, type SourcesPlan, type SourceStatus, type Superfluous, type WantedDocument } from './sources.ts';
import type { KnowledgeView } from './view.ts';

export type ConfiguredProfile = Pick<Config['PARLEY_EMBEDDING_PROFILES'][number], 'name' | 'model' | 'dimension'>;

export type KnowledgeBaseAction =
  | { readonly type: 'ensureCollection'; readonly spec: CollectionSpec }
  | { readonly type: 'ingest'; readonly collectionId: string; readonly document: WantedDocument }
  | ({ readonly type: 'discard'; readonly collectionId: string } & Superfluous)
  /** The documents are deleted, or kept for a later knowledge base of this name. */
  | { readonly type: 'deleteCollection' | 'releaseCollection' };

export type KnowledgeBasePlan = Plan<KnowledgeBaseAction | FinalizerAction, KnowledgeBaseStatus>;

export interface KnowledgeBasePlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly profiles: readonly ConfiguredProfile[];
  readonly rerankProfiles: readonly Pick<ConfiguredProfile, 'name'>[];
  readonly store: string;
  /** How long a deletion waits for Postgres, in milliseconds. */
  readonly deletionGraceMs: number;
}

/** Longest wait until a source is checked again, in milliseconds; planning is cheap. */
const LONGEST_REQUEUE_MS = 3_600_000;

/**
 * A collection in Postgres follows the resource, and the documents of `spec.sources` follow what they name. An invalid edit changes
 * nothing: the documents that exist are still found.
 */
export function planKnowledgeBase(
  knowledgeBase: KnowledgeBase,
  snapshot: ClusterSnapshot,
  view: KnowledgeView,
  options: KnowledgeBasePlanOptions,
): KnowledgeBasePlan {
  if (isDeleting(knowledgeBase)) return planDeletion(knowledgeBase, view, options);
  if (isSuspended(knowledgeBase)) return { actions: [], status: suspendedStatus(knowledgeBase, options.now) };
  const namespace = knowledgeBase.metadata.namespace ?? '';
  const contents = contentsOf(knowledgeBase, view, options);
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0) return { actions: [], status: { ...commonFields(knowledgeBase, options.now, [accepted(foreign)]), ...contents } };

  const profile = options.profiles.find((candidate) => candidate.name === knowledgeBase.spec.embedding.profile);
  const displayName = displayNameOf(knowledgeBase);
  const acceptance = [
    ...specProblems(knowledgeBaseProblems(knowledgeBase.spec)),
    ...unknownProfile(knowledgeBase, options.profiles),
    ...unconfiguredReranking(knowledgeBase, options.rerankProfiles),
    ...displayNameTaken(knowledgeBase, displayName, snapshot.knowledgeBasesNamed(namespace, displayName)),
  ];
  const spec = acceptance.length > 0 || profile === undefined ? undefined : collectionSpecOf(knowledgeBase, profile);
  const stage = synced(knowledgeBase, spec, view);
  const inStep = stage.problems.length === 0;
  const sources =
    inStep && view.state === 'known'
      ? planSources(knowledgeBase, snapshot, { documents: view.sourceDocuments, now: options.now })
      : undefined;
  const references = [
    ...unresolved(namespace, knowledgeBaseReferences(knowledgeBase), snapshot),
    ...sourceProblems(knowledgeBase, snapshot),
  ];
  const stages = [accepted(acceptance), resolvedRefs(references), stage];
  const actions = actionsFor(knowledgeBase, { spec, view, sources });
  return {
    actions,
    // Notices come only when no action is left, so that each is reported once.
    notices: actions.length > 0 || sources === undefined ? [] : newlyFailed(knowledgeBase, sources.status),
    ...(sources !== undefined && sources.dueInMs !== Infinity && { requeueAfterMs: Math.min(sources.dueInMs, LONGEST_REQUEUE_MS) }),
    status: {
      ...commonFields(knowledgeBase, options.now, stages, {
        message: 'its documents can be found',
        further: ingesting(knowledgeBase, view),
      }),
      ...(profile && { embedding: { model: profile.model, dimension: profile.dimension } }),
      ...contents,
      ...(sources && shownSources(sources.status)),
    },
  };
}

function actionsFor(
  knowledgeBase: KnowledgeBase,
  {
    spec,
    view,
    sources,
  }: { readonly spec: CollectionSpec | undefined; readonly view: KnowledgeView; readonly sources: SourcesPlan | undefined },
): KnowledgeBasePlan['actions'] {
  if (view.state !== 'known' || spec === undefined) return [];
  if (sources === undefined) {
    if (view.conflict !== undefined && sameJson(view.conflict.spec, spec)) return [];
    // The finalizer comes first: a collection without one would outlive its resource.
    return [...(hasFinalizer(knowledgeBase) ? [] : [{ type: 'addFinalizer' } as const]), { type: 'ensureCollection', spec }];
  }
  const collectionId = view.collection?.id ?? '';
  return [
    ...(hasFinalizer(knowledgeBase) ? [] : [{ type: 'addFinalizer' } as const]),
    ...sources.superfluous.map((superfluous) => Object.assign({ type: 'discard' as const, collectionId }, superfluous)),
    ...sources.wanted.map((document) => ({ type: 'ingest', collectionId, document }) as const),
  ];
}

const FOLLOWED = ['uid', 'model', 'dimension', 'language', 'maxTokens', 'overlapTokens', 'rerankProfile', 'workspace'] as const;

/** @param spec - the collection's; absent where the resource is not accepted */
function synced(knowledgeBase: KnowledgeBase, spec: CollectionSpec | undefined, view: KnowledgeView): ConditionStage {
  const good = { reason: 'CollectionReady', message: 'documents can be added and found' } as const;
  const stage = (problem: Problem): ConditionStage => ({ type: 'Synced', good, problems: [problem] });
  if (spec === undefined)
    return stage({ reason: 'CollectionWithheld', message: 'the operator creates and changes nothing for it until the spec is accepted' });
  if (view.state === 'unavailable') {
    const reported = findCondition(knowledgeBase, 'Synced');
    const believed =
      reported?.reason === good.reason &&
      reported.observedGeneration === knowledgeBase.metadata.generation &&
      sameJson(knowledgeBase.status?.embedding, { model: spec.model, dimension: spec.dimension });
    if (believed) return { type: 'Synced', good, problems: [] };
    return stage({
      reason: 'StoreUnavailable',
      message: `the collection cannot be created or changed: ${view.why}; the operator retries`,
    });
  }
  const { collection, conflict } = view;
  if (conflict !== undefined && sameJson(conflict.spec, spec))
    return stage({ reason: 'EmbeddingModelMismatch', message: conflict.message });
  if (collection !== undefined && FOLLOWED.every((field) => collection[field] === spec[field]))
    return { type: 'Synced', good, problems: [] };
  return stage({ reason: 'CollectionPending', message: 'the collection is being created or changed' });
}

type Contents = Pick<KnowledgeBaseStatus, 'embedding' | 'store' | 'documents' | 'chunks' | 'sources'>;

/** Returns what the collection holds, whatever the spec says; while Postgres is unavailable, what the status has. */
function contentsOf(knowledgeBase: KnowledgeBase, view: KnowledgeView, { store }: KnowledgeBasePlanOptions): Contents {
  const { status } = knowledgeBase;
  const shown: Contents = status?.sources === undefined ? {} : { sources: status.sources };
  if (view.state === 'unavailable') {
    return {
      ...shown,
      ...(status?.embedding && { embedding: status.embedding }),
      ...(status?.store !== undefined && { store: status.store }),
      ...(status?.documents && { documents: status.documents }),
      ...(status?.chunks !== undefined && { chunks: status.chunks }),
    };
  }
  if (view.collection === undefined) return {};
  const { model, dimension } = view.collection;
  return {
    ...shown,
    embedding: { model, dimension },
    store,
    ...(view.documents && { documents: view.documents }),
    ...(view.chunks !== undefined && { chunks: view.chunks }),
  };
}

function shownSources(sources: readonly SourceStatus[]): Pick<KnowledgeBaseStatus, 'sources'> {
  return { sources: sources.length === 0 ? undefined : [...sources] };
}

function newlyFailed(knowledgeBase: KnowledgeBase, sources: readonly SourceStatus[]): readonly Notice[] {
  const before = new Map((knowledgeBase.status?.sources ?? []).map((source) => [source.name, source]));
  return sources.flatMap((source): Notice[] => {
    const known = before.get(source.name);
    if (source.state !== 'Failed' || (known?.state === 'Failed' && known.message === source.message)) return [];
    return [{ type: 'Warning', reason: 'SourceFailed', message: `source "${source.name}": ${source.message ?? 'failed'}` }];
  });
}

function unknownProfile(knowledgeBase: KnowledgeBase, profiles: readonly ConfiguredProfile[]): readonly Problem[] {
  const { profile } = knowledgeBase.spec.embedding;
  if (profiles.some((candidate) => candidate.name === profile)) return [];
  return [
    {
      reason: 'UnknownEmbeddingProfile',
      message: `embedding profile "${profile}" is not configured (configured: ${configuredNames(profiles)}); it cannot be changed in place, so create the knowledge base again with one of these or add it to PARLEY_EMBEDDING_PROFILES`,
    },
  ];
}

function unconfiguredReranking({ spec }: KnowledgeBase, profiles: KnowledgeBasePlanOptions['rerankProfiles']): readonly Problem[] {
  return unknownRerankProfile(spec, profiles).map(({ message }) => ({ reason: 'UnknownRerankProfile', message }));
}

/** From the first action on none of its documents are found; the worker clears the stores afterwards. */
function planDeletion(knowledgeBase: KnowledgeBase, view: KnowledgeView, options: KnowledgeBasePlanOptions): KnowledgeBasePlan {
  if (!hasFinalizer(knowledgeBase)) return { actions: [] };
  if (view.state === 'known') {
    const type = knowledgeBase.spec.deletionPolicy === 'Delete' ? 'deleteCollection' : 'releaseCollection';
    return { actions: [{ type }, { type: 'dropFinalizer' }] };
  }
  return planBlockedDeletion(knowledgeBase, {
    ...options,
    cause: { reason: 'StoreUnavailable', message: view.why },
    blocked: 'its documents cannot be deleted or released',
    left: 'its documents left in Postgres as they are',
  });
}
