/** A document's chunks as JSON, written as they are read: 20 MB of text are never whole in memory. */
import { Readable } from 'node:stream';

import type { DocumentRecord } from '../../store/index.ts';

export function chunkStream({ id, filename, status, chunkCount }: DocumentRecord, chunks: AsyncIterable<string>): Readable {
  const head = { document_id: id, filename, chunk_count: status === 'completed' ? chunkCount : 0, chunks: [] };
  return Readable.from(
    (async function* () {
      yield JSON.stringify(head).slice(0, -2);
      let separator = '';
      for await (const chunk of chunks) {
        yield separator + JSON.stringify(chunk);
        separator = ',';
      }
      yield ']}';
    })(),
    { objectMode: false },
  );
}
