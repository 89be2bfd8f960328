import type { KnowledgeBase, KnowledgeBaseStatus } from '../../crds/index.ts';
import { knowledgeBaseProblems } from '../../crds/limits.ts';
import type { Config } from '../../platform/config.ts';
import { knowledgeBaseReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/resolve.ts';
import { displayNameOf, ownerAmong, type World } from '../references/world.ts';
import type { Plan } from '../runtime/plan.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { summarize } from '../status/conditions.ts';
import type { Problem } from '../status/reasons.ts';
import { specProblems } from '../status/spec-problems.ts';
import { accepted, notSynced, resolvedRefs } from '../status/stages.ts';

export type EmbeddingProfile = Config['PARLEY_EMBEDDING_PROFILES'][number];

export interface KnowledgeBasePlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly profiles: readonly EmbeddingProfile[];
}

/** `Ready` follows the spec and its references alone as long as there is no vector store to put documents into. */
export function planKnowledgeBase(
  knowledgeBase: KnowledgeBase,
  world: World,
  options: KnowledgeBasePlanOptions,
): Plan<never, KnowledgeBaseStatus> {
  if (isDeleting(knowledgeBase)) return { actions: [] };
  if (isSuspended(knowledgeBase)) return { actions: [], status: suspendedStatus(knowledgeBase, options.now) };
  const namespace = knowledgeBase.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, world);
  if (foreign.length > 0)
    return { actions: [], status: commonFields(knowledgeBase, summarize([accepted(foreign)], { message: '' }), options.now) };

  const profile = options.profiles.find((candidate) => candidate.name === knowledgeBase.spec.embedding.profile);
  const verdicts = summarize(
    [
      accepted([
        ...specProblems(knowledgeBaseProblems(knowledgeBase.spec)),
        ...unknownProfile(knowledgeBase, options.profiles),
        ...displayNameTaken(knowledgeBase, world),
      ]),
      resolvedRefs(unresolved(namespace, knowledgeBaseReferences(knowledgeBase), world)),
      notSynced({ reason: 'VectorStoreNotConfigured', message: 'this version keeps no vector store, so no document is ingested yet' }),
    ],
    { message: 'the spec is accepted and every source exists' },
  );
  return {
    actions: [],
    status: {
      ...commonFields(knowledgeBase, verdicts, options.now),
      ...(profile && { embedding: { model: profile.model, dimension: profile.dimension } }),
    },
  };
}

function unknownProfile(knowledgeBase: KnowledgeBase, profiles: readonly EmbeddingProfile[]): readonly Problem[] {
  const { profile } = knowledgeBase.spec.embedding;
  if (profiles.some((candidate) => candidate.name === profile)) return [];
  const known =
    profiles
      .map((candidate) => candidate.name)
      .sort()
      .join(', ') || 'none';
  return [
    {
      reason: 'UnknownEmbeddingProfile',
      message: `embedding profile "${profile}" is not configured (there is: ${known}); it cannot be changed in place, so make the knowledge base anew with one of these or add it to PARLEY_EMBEDDING_PROFILES`,
    },
  ];
}

function displayNameTaken(knowledgeBase: KnowledgeBase, world: World): readonly Problem[] {
  const displayName = displayNameOf(knowledgeBase);
  const namespace = knowledgeBase.metadata.namespace ?? '';
  const owner = ownerAmong(world.knowledgeBasesNamed(namespace, displayName));
  if (owner === undefined || owner.metadata.uid === knowledgeBase.metadata.uid) return [];
  return [
    {
      reason: 'DisplayNameTaken',
      message: `the older KnowledgeBase ${namespace}/${owner.metadata.name} is already called "${displayName}"; set another spec.displayName`,
    },
  ];
}
