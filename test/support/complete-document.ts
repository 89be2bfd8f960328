import type { EndedDocument, KnowledgeStore, NewEvent } from '../../store/index.ts';

/** Completes a stored document: it can be found from here on. @returns the one that it replaced; undefined when it was at an end already */
export async function completeDocument(
  { completion }: Pick<KnowledgeStore, 'completion'>,
  { org, id }: { readonly org: string; readonly id: string },
  eventOf?: (ended: EndedDocument) => NewEvent,
): Promise<readonly string[] | undefined> {
  return (await completion.complete(org, [{ id, message: 'done', eventOf }])).get(id);
}
