/**
 * Decides which of two equal scores comes first by the document's content, and not by its id, which is another one each time it is added.
 */
import { createHash } from 'node:crypto';

import type { DocumentRecord } from '../../store/index.ts';

type Identity = Pick<DocumentRecord, 'filename' | 'sha256' | 'urls' | 'source' | 'metadata'>;

/** @returns a whole number from 0 to 2^53 − 1, the same for documents with the same name, content, addresses and metadata */
export function tieBreakerOf({ filename, sha256, urls, source, metadata }: Identity): number {
  const fields = Object.entries(metadata).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify([filename, sha256, urls, source, fields]));
  return Number(digest.digest().readBigUInt64BE() >> 11n);
}
