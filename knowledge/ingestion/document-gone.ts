/** The document or its knowledge base was deleted: whoever works on it stops, and there is nothing to tell anybody. */
export class DocumentGone extends Error {
  override readonly name = 'DocumentGone';

  constructor(documentId: string) {
    super(`document ${documentId} was deleted, or is at an end already`);
  }
}
