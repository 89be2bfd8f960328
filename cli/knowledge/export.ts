/** Writes a knowledge base into a folder: what was put in, and what searches find of it. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { DocumentRecord, StoredChunk } from '../../store/index.ts';
import { writePrivately } from '../write-privately.ts';
import type { OfflineBase } from './offline.ts';
import { documentFolder } from '../../knowledge/ingestion/clear-document.ts';

const PAGE = 200;
/** The knowledge of an organisation is for the owner's eyes only, as a backup is. */
const PRIVATE = { mode: 0o600 } as const;

/**
 * Writes a folder for each document, named by its id: `document.json`, `chunks.ndjson` and its stored files.
 * @param onDocument called after each document
 * @returns how many documents there are
 */
export async function exportKnowledgeBase(
  { store, knowledge, collection }: OfflineBase,
  folder: string,
  onDocument: (document: DocumentRecord) => void,
): Promise<number> {
  const { org, id: collectionId } = collection;
  let count = 0;
  let page = await store.knowledge.documents.list({ org, collectionId, pageSize: PAGE });
  for (;;) {
    for (const document of page.items) {
      const to = join(folder, document.id);
      await mkdir(to, { recursive: true, mode: 0o700 });
      await writePrivately(join(to, 'document.json'), `${JSON.stringify(document, null, 2)}\n`);
      await pipeline(lines(document), createWriteStream(join(to, 'chunks.ndjson'), PRIVATE));
      for (const key of await knowledge.storage.list(documentFolder(org, document.id), { limit: 1_000 }))
        await pipeline(await knowledge.storage.read(key), createWriteStream(join(to, exportedName(key, document)), PRIVATE));
      count += 1;
      onDocument(document);
    }
    if (page.next === undefined) return count;
    page = await store.knowledge.documents.list({ org, collectionId, pageSize: PAGE, after: page.next });
  }

  async function* lines(document: DocumentRecord): AsyncGenerator<string> {
    if (document.status !== 'completed') return;
    for (let after = -1; ;) {
      const chunks = await store.knowledge.lookup.chunksOf({ org, documentId: document.id, after, limit: PAGE });
      for (const chunk of chunks) yield `${JSON.stringify(shown(chunk))}\n`;
      after = chunks.at(-1)?.ordinal ?? after;
      if (chunks.length < PAGE) return;
    }
  }
}

/** `file` is the upload: it gets its extension back. */
function exportedName(key: string, { extension }: DocumentRecord): string {
  const name = basename(key);
  return name === 'file' && extension !== null ? `file.${extension}` : name;
}

/** Leaves out the indexed text, which is made of the rest. */
function shown(chunk: StoredChunk): Omit<StoredChunk, 'indexedText'> {
  const { ordinal, text, tokens, headingPath, page, sheet, url, firstRow, lastRow } = chunk;
  return { ordinal, text, tokens, headingPath, page, sheet, url, firstRow, lastRow };
}
