/** Removes a deleted document: vectors, files, then rows, so that a sweep finds the rest after a failure. */
import type { Collection } from '../../store/index.ts';
import { collectionRef } from '../search/create-search.ts';
import type { IngestionDependencies } from './step.ts';

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

/** Removes vectors after a write that a deletion may have overtaken: once the knowledge base is gone, too, no sweep finds them. */
export async function clearLateVectors(
  { collection, documentId }: { readonly collection: Collection; readonly documentId: string },
  { knowledge, vectors }: Pick<IngestionDependencies, 'knowledge' | 'vectors'>,
): Promise<void> {
  const { org, id } = collection;
  if ((await knowledge.documents.get({ org, id: documentId })) !== undefined) return;
  if ((await knowledge.collections.get({ org, id })) === undefined) await vectors.deleteCollection(collectionRef(collection));
  else await vectors.deleteDocument(collectionRef(collection), documentId);
}

/** Folder of one document's files; ends with a slash. */
export const documentFolder = (org: string, documentId: string): string => `${org}/${documentId}/`;

/** Key of the uploaded file itself. */
export const fileKey = (org: string, documentId: string): string => `${documentFolder(org, documentId)}file`;

/** Key of the content of one address of a website. */
export const pageKey = (org: string, documentId: string, page: number): string => `${documentFolder(org, documentId)}page-${page}`;
