/** Reads a website's addresses into the storage, with an outcome each. */
import { Readable } from 'node:stream';

import type { EgressGuard } from '../../platform/egress/egress.ts';
import type { PageOutcome } from '../../store/index.ts';
import { fetchPages } from '../websites/fetch-pages.ts';
import type { FetchedPage } from '../websites/page.ts';
import type { IngestionDependencies, Step } from './step.ts';
import { requireAPage } from './read-pages.ts';
import { pageKey } from './clear-document.ts';

export interface FetchingDependencies extends Pick<IngestionDependencies, 'knowledge' | 'storage'> {
  readonly egress: Pick<EgressGuard, 'for'>;
}

const LARGEST_PAGE = 50e6;

/** @throws IngestionError `all_pages_failed` */
export async function fetchDocumentPages(
  { document, signal, report }: Step,
  { knowledge, storage, egress }: FetchingDependencies,
): Promise<void> {
  const urls = document.urls ?? [];
  const outcomes = new Map<string, PageOutcome>();
  await report(0, urls.length);
  for await (const page of fetchPages(urls, { egress: egress.for(document.org), signal })) {
    outcomes.set(page.url, page.status === 'fetched' ? await keep(page) : { url: page.url, status: 'failed', reason: page.reason });
    await report(outcomes.size, urls.length);
  }
  // Outcomes follow the order of the list, which is that of the document.
  const listed = urls.flatMap((url) => outcomes.get(url) ?? []);
  await knowledge.ingestion.pageOutcomes(document, [...new Set(listed)]);
  requireAPage(listed);

  async function keep(page: FetchedPage): Promise<PageOutcome> {
    const objectKey = pageKey(document.org, document.id, page.index);
    await storage.put(objectKey, Readable.from([page.body]), { maxBytes: LARGEST_PAGE, signal });
    const { url, contentType, extension } = page;
    return { url, status: 'fetched', objectKey, extension, ...(contentType !== undefined && { contentType }) };
  }
}
