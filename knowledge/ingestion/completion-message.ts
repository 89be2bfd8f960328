import type { DocumentRecord } from '../../store/index.ts';

/** What a completed document says: how much there is, and what was left out. */
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
