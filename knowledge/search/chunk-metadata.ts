/** Builds a hit's `metadata` with the place of its chunk, and the fields by which a search can filter. Pure. */
import type { DocumentRecord, StoredChunk } from '../../store/index.ts';
import { LONGEST_FILTER_VALUE } from '../search-filter.ts';
import { MOST_FIELDS } from '../vector-stores/check-arguments.ts';
import type { Scalar, VectorRecord } from '../vector-stores/vector-store.ts';

/** The field of filters that no metadata can have. */
export const DOCUMENT_ID = 'document_id';

type Place = Pick<StoredChunk, 'headingPath' | 'page' | 'sheet' | 'firstRow' | 'lastRow' | 'url'>;

/** @param title title of the document, or of the page of a website */
export function placeMetadata(chunk: Place, title: string | null): Readonly<Record<string, Scalar | readonly string[]>> {
  return {
    ...(title !== null && { title }),
    ...(chunk.headingPath.length > 0 && { heading_path: chunk.headingPath }),
    ...(chunk.page !== null && { page: chunk.page }),
    ...(chunk.sheet !== null && { sheet: chunk.sheet }),
    ...(chunk.firstRow !== null && { first_row: chunk.firstRow }),
    ...(chunk.lastRow !== null && { last_row: chunk.lastRow }),
    ...(chunk.url !== null && { url: chunk.url }),
  };
}

/**
 * Returns the fields that a search can filter by. The owner's own values win over ours, as in hits, except for the document's id: a filter
 * by it means this document. Values longer than any filter are left out.
 */
export function filterableBy(
  document: Pick<DocumentRecord, 'id' | 'filename' | 'kind' | 'title' | 'pageOutcomes' | 'metadata'>,
  chunk: Place,
): VectorRecord['metadata'] {
  const ours = { filename: document.filename, ...placeMetadata(chunk, titleOf(document, chunk)) };
  const own = Object.entries({ ...document.metadata, [DOCUMENT_ID]: document.id });
  const added = Object.entries<Scalar | readonly string[]>(ours).filter(
    (entry): entry is [string, Scalar] =>
      !Object.hasOwn(document.metadata, entry[0]) &&
      (typeof entry[1] === 'number' || (typeof entry[1] === 'string' && entry[1].length <= LONGEST_FILTER_VALUE)),
  );
  return Object.fromEntries([...own, ...added.slice(0, Math.max(0, MOST_FIELDS - own.length))]);
}

function titleOf({ kind, title, pageOutcomes }: Pick<DocumentRecord, 'kind' | 'title' | 'pageOutcomes'>, { url }: Place): string | null {
  return kind === 'website' ? (pageOutcomes?.find((page) => page.url === url)?.title ?? null) : title;
}
