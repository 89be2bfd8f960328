import { addressOf } from '../../knowledge/websites/fetch-pages.ts';
import type { DocumentRecord } from '../../store/index.ts';

type Json = Readonly<Record<string, unknown>>;

export function documentStatusToRest(document: DocumentRecord): Json {
  return {
    document_id: document.id,
    ...stateToRest(document),
    progress: { stage: document.stage, done: document.done, total: document.total },
    ...timesToRest(document),
  };
}

export function documentToRest(document: DocumentRecord, knowledgeBaseId: string): Json {
  return {
    document_id: document.id,
    knowledge_base_id: knowledgeBaseId,
    type: document.kind,
    filename: document.filename,
    title: document.title,
    page_urls: pagesToRest(document),
    size_bytes: document.bytes,
    sha256: document.sha256,
    metadata: document.metadata,
    source: document.source,
    ...stateToRest(document),
    warnings: document.warnings,
    created_by_user_id: document.createdBy,
    ...timesToRest(document),
  };
}

function stateToRest(document: DocumentRecord): Json {
  const { status, errorCode } = document;
  const message = document.message === '' ? progressMessage(document) : document.message;
  return {
    status,
    message,
    ...(status === 'failed' && { error: { code: errorCode ?? 'stalled', message } }),
    chunk_count: status === 'completed' ? document.chunkCount : 0,
  };
}

function progressMessage({ status, stage, done, total }: DocumentRecord): string {
  if (status !== 'processing') return status === 'completed' ? 'The document can be found' : 'The document could not be ingested';
  return total === null ? doing[stage] : `${doing[stage]}, ${done} of ${total} done`;
}

const doing: Readonly<Record<DocumentRecord['stage'], string>> = {
  queued: 'Waiting to be ingested',
  fetching: 'Reading the pages',
  parsing: 'Reading the document',
  indexing: 'Making it searchable',
  verifying: 'Checking that it can be found',
  completed: 'Done',
};

function pagesToRest({ urls, pageOutcomes }: DocumentRecord): readonly Json[] | null {
  if (urls === null) return null;
  // Addresses that lead to the same page share its outcome: it is fetched once.
  const outcomes = new Map((pageOutcomes ?? []).map((outcome) => [addressOf(outcome.url), outcome]));
  return urls.map((url) => {
    const { status = 'pending', reason } = outcomes.get(addressOf(url)) ?? {};
    return { url, status, ...(reason !== undefined && { reason }) };
  });
}

function timesToRest({ createdAt, updatedAt }: DocumentRecord): Json {
  return { created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
