import { z } from 'zod';

import { ValidationError } from '../../http/api-error.ts';
import { issues, MAX_ISSUES, type ValidationIssue } from '../../validation/issue.ts';
import { validate } from '../../validation/validate.ts';
import { EntryError, type SoundEntry } from './entry.ts';
import { MAX_ENTRIES, MAX_LINE_BYTES } from './limits.ts';
import { asEntryError, entryKey, entryMetadata, metadataOf, parse } from './line-entries.ts';
import { readLines } from './read-lines.ts';

/** Name of the manifest, at the top of the archive. */
export const MANIFEST = 'manifest.ndjson';

const manifestEntry = z.object({
  name: z.string().min(1),
  metadata: entryMetadata,
  idempotency_key: entryKey,
});

export type ManifestEntry = Pick<SoundEntry, 'metadata' | 'idempotencyKey'>;

/**
 * Reads entries by the name of the file in the archive.
 * @throws ValidationError with each line that cannot be used: nothing has been stored by then
 */
export async function readManifest(content: Buffer): Promise<ReadonlyMap<string, ManifestEntry>> {
  const found = new Map<string, ManifestEntry>();
  const wrong: ValidationIssue[] = [];
  let line = 0;
  for await (const read of readLines([content] as unknown as AsyncIterable<Uint8Array>, { maxBytes: MAX_LINE_BYTES })) {
    const loc = ['body', MANIFEST, line];
    line += 1;
    if (line > MAX_ENTRIES) wrong.push(issues.value(loc, `a manifest may have ${MAX_ENTRIES} lines`));
    if (wrong.length >= MAX_ISSUES || line > MAX_ENTRIES) break;
    try {
      if ('tooLong' in read) throw new EntryError({ code: 'payload_too_large', message: 'the line is too long' });
      const entry = validate(manifestEntry, parse(read.bytes), []);
      if (!entry.ok) throw asEntryError(entry.issues);
      const { name, metadata, idempotency_key: key } = entry.value;
      if (found.has(name))
        throw new EntryError({ code: 'conflict', message: `name: ${JSON.stringify(name.slice(0, 255))} has a line already` });
      found.set(name, { metadata: metadataOf(metadata), idempotencyKey: key ?? undefined });
    } catch (error) {
      if (!(error instanceof EntryError)) throw error;
      wrong.push(issues.value(loc, error.message));
    }
  }
  if (wrong.length > 0) throw new ValidationError(wrong);
  return found;
}
