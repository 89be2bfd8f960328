/** Takes away what a deleted document left behind: vectors, files, then rows, so that whatever fails is found again. */
import type { Collection } from '../../store/index.ts';
import { collectionRef } from '../search/create-search.ts';
import type { IngestionDependencies } from './dependencies.ts';
import { documentFolder } from './object-keys.ts';

export async function clearDocument(
  { collection, documentId }: { readonly collection: Collection; readonly documentId: string },
  { knowledge, vectors, storage }: Pick<IngestionDependencies, 'knowledge' | 'vectors' | 'storage'>,
): Promise<void> {
  const { org } = collection;
  await vectors.deleteDocument(collectionRef(collection), documentId);
  for (let more = true; more;) {
    const keys = await storage.list(documentFolder(org, documentId), { limit: 1_000 });
    await Promise.all(keys.map((key) => storage.delete(key)));
    more = keys.length === 1_000;
  }
  while (await knowledge.documents.uncountMoreTerms({ org, id: documentId }));
  await knowledge.documents.remove({ org, id: documentId });
}
