/** Lists the documents of a knowledge base through the REST API, a hundred at a time. */
import type { RestClient } from './rest-client.ts';

export interface ListedDocument {
  readonly document_id: string;
  readonly filename: string;
  readonly status: 'processing' | 'completed' | 'failed';
  readonly message: string;
  readonly source: string | null;
  /** Hash of an uploaded file; null for other documents. */
  readonly sha256: string | null;
}

export interface DocumentPage {
  /** Opens this page again; undefined for the first one. */
  readonly token: string | undefined;
  readonly documents: readonly ListedDocument[];
}

const PAGE_SIZE = 100;

export function documentsPath(knowledgeBase: string): string {
  return `/api/v1/knowledge-bases/${encodeURIComponent(knowledgeBase)}/documents`;
}

/** Yields pages of documents, oldest first, from the page of `token` on. */
export async function* documentPages(client: RestClient, knowledgeBase: string, from?: string): AsyncGenerator<DocumentPage> {
  let token = from;
  do {
    const query = new URLSearchParams({ page_size: String(PAGE_SIZE), ...(token !== undefined && { page_token: token }) });
    const { data, next_page_token: next } = (await client.request('GET', `${documentsPath(knowledgeBase)}?${query.toString()}`)) as {
      readonly data: readonly ListedDocument[];
      readonly next_page_token: string | null;
    };
    yield { token, documents: data };
    token = next ?? undefined;
  } while (token !== undefined);
}

export class KnownContent {
  readonly #bySha256 = new Map<string, ListedDocument>();
  readonly #failed = new Map<string, string[]>();

  add(document: ListedDocument): void {
    const { sha256, status, document_id: id, source } = document;
    if (sha256 === null) return;
    if (status !== 'failed') {
      if (this.#bySha256.get(sha256)?.status !== 'completed') this.#bySha256.set(sha256, document);
    } else if (source === null) this.#failed.set(sha256, [...(this.#failed.get(sha256) ?? []), id]);
  }

  /** Returns a document with this content that searches find already, or will find. */
  find(sha256: string): ListedDocument | undefined {
    return this.#bySha256.get(sha256);
  }

  /** Returns the ids of failed uploads of this content; each is returned once. */
  takeFailed(sha256: string): readonly string[] {
    const ids = this.#failed.get(sha256) ?? [];
    this.#failed.delete(sha256);
    return ids;
  }
}
