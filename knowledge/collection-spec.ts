import { type KnowledgeBase, type KnowledgeBaseSpec, wellKnown } from '../crds/index.ts';
import type { SpecProblem } from '../crds/limits.ts';
import type { CollectionSpec } from '../store/index.ts';
import type { EmbeddingProfile } from './embedding/embedder.ts';

/** Returns the settings for the collection of a KnowledgeBase resource; operator and API may both create it. */
export function collectionSpecOf(
  { metadata, spec }: KnowledgeBase,
  profile: Pick<EmbeddingProfile, 'name' | 'model' | 'dimension'>,
): CollectionSpec {
  return {
    org: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    profile: profile.name,
    model: profile.model,
    dimension: profile.dimension,
    language: spec.documentLanguage,
    maxTokens: spec.chunking.maxTokens,
    overlapTokens: spec.chunking.overlapTokens,
    rerankProfile: spec.reranking?.profile,
    // An empty label names no workspace.
    workspace: metadata.labels?.[wellKnown.workspaceLabel] || undefined,
  };
}

interface Profile {
  readonly name: string;
}

/** Returns the rerank profile that the resource names and this installation lacks. */
export function unknownRerankProfile({ reranking }: KnowledgeBaseSpec, profiles: readonly Profile[]): readonly SpecProblem[] {
  const profile = reranking?.profile;
  if (profile === undefined || profiles.some(({ name }) => name === profile)) return [];
  const message = `rerank profile "${profile}" is not configured (configured: ${configuredNames(profiles)}); name a configured one or none, or add it to PARLEY_RERANK_PROFILES`;
  return [{ path: 'spec.reranking.profile', message }];
}

export function configuredNames(profiles: readonly Profile[]): string {
  return (
    profiles
      .map(({ name }) => name)
      .sort()
      .join(', ') || 'none'
  );
}
