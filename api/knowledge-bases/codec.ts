/** Knowledge bases: REST ↔ KnowledgeBaseSpec. Pure. */
import { wellKnown, type KnowledgeBase, type KnowledgeBaseSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { present, updated, type Draft } from '../codec/present.ts';
import { writtenAt } from '../resources/written-at.ts';
import { stateOf } from '../state/resource-state.ts';
import type { KnowledgeBaseCreate, KnowledgeBaseUpdate } from './schema.ts';

/** The language where nothing is said. */
const defaultLanguage = 'en';

export function nameOf({ metadata, spec }: Pick<Stored<KnowledgeBase>, 'metadata' | 'spec'>): string {
  return spec.displayName ?? metadata.name;
}

export function knowledgeBaseToRest(base: Stored<KnowledgeBase>, totalDocuments: number): Readonly<Record<string, unknown>> {
  const { metadata, spec } = base;
  return {
    id: metadata.name,
    organization_id: metadata.namespace ?? '',
    user_id: metadata.annotations?.[wellKnown.createdBy] ?? null,
    name: nameOf(base),
    description: spec.description ?? null,
    document_language: spec.documentLanguage,
    total_documents: totalDocuments,
    status: statusOf(base),
    state: stateOf(base),
    created_at: metadata.creationTimestamp,
    updated_at: writtenAt(base),
  };
}

function statusOf({ status }: Stored<KnowledgeBase>): 'pending' | 'ready' | 'failed' {
  const isTrue = (type: string): boolean => (status?.conditions ?? []).some((each) => each.type === type && each.status === 'True');
  if (isTrue('Ready')) return 'ready';
  return isTrue('Stalled') ? 'failed' : 'pending';
}

/** @param previous the stored spec, of which everything that the request doesn't name is kept */
export function knowledgeBaseFromRest(
  body: KnowledgeBaseCreate | KnowledgeBaseUpdate,
  previous: KnowledgeBaseSpec | undefined,
): Draft<KnowledgeBaseSpec> {
  return present({
    ...previous,
    displayName: updated(body.name, previous?.displayName, same),
    description: updated(body.description, previous?.description, same),
    // Said even where it is the default: the API server fills it in again, and then it would be nobody's.
    documentLanguage: updated(body.document_language, previous?.documentLanguage, same) ?? defaultLanguage,
  });
}

const same = <T>(value: T): T => value;
