/** What subscribers are told of a document that has come to its end. */
import type { EndedDocument, NewEvent } from '../../store/index.ts';
import { buildEvent } from '../../events/emit.ts';

/** @param now milliseconds since the epoch */
export function documentCompleted({ org, id, knowledgeBase, workspace, chunkCount }: EndedDocument, now: number): NewEvent {
  return buildEvent({
    name: 'KnowledgeBase.DocumentCompleted',
    org,
    workspace,
    payload: { knowledge_base_id: knowledgeBase, document_id: id, status: 'completed', chunk_count: chunkCount },
    now,
  });
}

/** @param now milliseconds since the epoch */
export function documentFailed(
  { org, id, knowledgeBase, workspace }: EndedDocument,
  { code, message }: { readonly code: string; readonly message: string },
  now: number,
): NewEvent {
  return buildEvent({
    name: 'KnowledgeBase.DocumentFailed',
    org,
    workspace,
    payload: { knowledge_base_id: knowledgeBase, document_id: id, status: 'failed', error: { code, message: message.slice(0, 4096) } },
    now,
  });
}
