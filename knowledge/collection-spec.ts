import { type KnowledgeBase, wellKnown } from '../crds/index.ts';
import type { CollectionSpec } from '../store/index.ts';
import type { EmbeddingProfile } from './embedding/embedder.ts';

/** What the collection of a KnowledgeBase resource is to be; operator and API may both create it. */
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
