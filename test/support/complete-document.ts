import type { EndedDocument, KnowledgeStore, NewEvent } from '../../store/index.ts';

/** The document, which is stored in Postgres, can be found from here on. @returns what it replaced; undefined when it was at an end already */
export async function completeDocument(
  { completion }: Pick<KnowledgeStore, 'completion'>,
  { org, id }: { readonly org: string; readonly id: string },
  eventOf?: (ended: EndedDocument) => NewEvent,
): Promise<readonly string[] | undefined> {
  return (await completion.complete(org, [{ id, message: 'done', eventOf }])).get(id);
}
