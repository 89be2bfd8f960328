/** Reads a website's addresses into the storage, with an outcome each. */
import type { IngestionDependencies, Step } from './dependencies.ts';

export async function fetchDocumentPages(_step: Step, _dependencies: Pick<IngestionDependencies, 'storage' | 'knowledge'>): Promise<void> {
  throw new Error('not yet');
}
