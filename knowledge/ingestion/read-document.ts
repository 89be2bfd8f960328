/** Reads a document's stored content, cuts it into chunks and stores these in Postgres. A second attempt starts over. */
import type { StoredChunk } from '../../store/index.ts';
import { chunkDocument, type ReadingDependencies } from './chunk-document.ts';
import type { Step } from './step.ts';

/** Chunks that are written at a time. */
const BATCH = 200;

/** @throws IngestionError when the document is at fault */
export async function readDocument(step: Step, dependencies: ReadingDependencies): Promise<void> {
  const { document, report } = step;
  const { knowledge } = dependencies;
  const ref = { org: document.org, id: document.id };
  await report(0);
  await knowledge.ingestion.clearChunks(ref);

  let shown: { readonly done: number; readonly total: number | undefined } = { done: 0, total: undefined };
  const reading = chunkDocument(step, dependencies, {
    onProgress: ({ done, total }) => (shown = { done, total }),
    onPage: ({ done, total }) => report(done, total),
  });
  let batch: StoredChunk[] = [];
  const flush = async (): Promise<void> => {
    await knowledge.ingestion.addChunks(ref, batch);
    batch = [];
    await report(shown.done, shown.total);
  };
  for await (const { stored } of reading.chunks()) {
    batch.push(stored);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  await knowledge.ingestion.parsed(ref, reading.facts());
}
