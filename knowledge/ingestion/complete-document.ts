/** Builds the message and the events of a document that is completed or has failed. */
import type { DocumentRecord, EndedDocument, NewEvent } from '../../store/index.ts';
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

/** Writes the message of a completed document: how much there is, and which parts were left out. */
export function completionMessage(document: Pick<DocumentRecord, 'chunkCount' | 'warnings' | 'pageOutcomes'>): string {
  const failed = (document.pageOutcomes ?? []).filter(({ status }) => status === 'failed');
  const warnings = [
    ...(failed.length > 0
      ? [
          `${failed.length} of ${document.pageOutcomes?.length} addresses could not be read: ${failed.map(({ url, reason }) => `${url} (${reason})`).join(', ')}`,
        ]
      : []),
    ...document.warnings,
  ];
  const done = `${document.chunkCount} ${document.chunkCount === 1 ? 'chunk' : 'chunks'} can be found`;
  return warnings.length === 0 ? done : `${done}; ${warnings.join('; ')}`;
}
