/** Adds, reads and deletes documents of a knowledge base. All of their data is in Postgres. */
import { Readable } from 'node:stream';

import type { FastifyRequest } from 'fastify';

import type { JobStarter } from '../../knowledge/jobs/job-starter.ts';
import {
  type Collection,
  type DocumentRecord,
  type KnowledgeStore,
  type NewDocument,
  newDocumentId,
  type StoredChunk,
  StoreError,
} from '../../store/index.ts';
import type { DocumentPosition } from '../../store/knowledge/documents.ts';
import { ApiError, ValidationError, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { currentRequest } from '../http/request-state.ts';
import type { BaseCollections } from './base-collections.ts';
import { readMetadata } from './metadata.ts';
import type { WebsiteSubmission } from './schema.ts';
import { receiveUpload, type UploadStorage } from './upload.ts';
import { fileKey } from '../../knowledge/ingestion/clear-document.ts';

type Page = Awaited<ReturnType<KnowledgeStore['documents']['list']>>;

const CHUNK_PAGE = 200;

export class DocumentService {
  readonly #bases: BaseCollections;
  readonly #store: Pick<KnowledgeStore, 'documents' | 'lookup'>;
  readonly #files: UploadStorage;
  readonly #starter: JobStarter;

  constructor(options: {
    readonly bases: BaseCollections;
    readonly store: Pick<KnowledgeStore, 'documents' | 'lookup'>;
    readonly files: UploadStorage;
    readonly starter: JobStarter;
  }) {
    this.#bases = options.bases;
    this.#store = options.store;
    this.#files = options.files;
    this.#starter = options.starter;
  }

  /** Stores the file before it creates the document: a document always has its file. */
  async submitFile({ org, userId }: Caller, baseName: string, request: FastifyRequest): Promise<DocumentRecord> {
    const collection = await this.#bases.ensure(org, baseName);
    const id = newDocumentId();
    const key = fileKey(org, id);
    const { name, extension, bytes, sha256, metadata } = await receiveUpload(request, { key, files: this.#files });
    try {
      return await this.#takeOn(collection, {
        id,
        kind: 'file',
        filename: name,
        extension,
        objectKey: key,
        bytes,
        sha256,
        metadata,
        createdBy: userId,
      });
    } catch (error) {
      // A lost answer may have been a success, and then the file is needed; otherwise the sweep of orphaned files finds it.
      if (!(error instanceof StoreError && error.kind === 'unavailable')) await this.#files.delete(key).catch(() => undefined);
      throw error;
    }
  }

  async submitWebsite(
    { org, userId }: Caller,
    baseName: string,
    { page_urls: urls, metadata: sent }: WebsiteSubmission,
  ): Promise<DocumentRecord> {
    const read = readMetadata({ json: sent ?? {} });
    if (!read.ok) throw new ValidationError([read.issue]);
    const collection = await this.#bases.ensure(org, baseName);
    const id = newDocumentId(currentRequest()?.newUuid());
    return this.#takeOn(collection, { id, kind: 'website', filename: urls[0] ?? '', urls, metadata: read.metadata, createdBy: userId });
  }

  /** Lists documents, oldest first. */
  async list(
    org: string,
    baseName: string,
    page: { readonly pageSize: number; readonly after?: DocumentPosition | undefined },
  ): Promise<Page> {
    const collection = await this.#bases.find(org, baseName);
    return collection === undefined ? { items: [] } : this.#store.documents.list({ org, collectionId: collection.id, ...page });
  }

  /** @throws ApiError `not_found`, as every method here does */
  async get(org: string, baseName: string, id: string): Promise<DocumentRecord> {
    return this.#get(org, await this.#bases.find(org, baseName), id);
  }

  async chunks(
    org: string,
    baseName: string,
    id: string,
  ): Promise<{ readonly document: DocumentRecord; readonly chunks: AsyncIterable<string> }> {
    const document = await this.get(org, baseName, id);
    if (document.status !== 'completed') return { document, chunks: Readable.from([]) };
    const first = await this.#store.lookup.chunksOf({ org, documentId: id, limit: CHUNK_PAGE });
    return { document, chunks: this.#chunksFrom(document, first) };
  }

  async delete(org: string, baseName: string, id: string): Promise<void> {
    const collection = await this.#bases.find(org, baseName);
    const { source } = await this.#get(org, collection, id);
    if (source !== null)
      throw new ApiError(
        'conflict',
        `the document comes from the source ${JSON.stringify(source)} of the KnowledgeBase resource: take the source out there`,
      );
    const { id: collectionId = '', name: knowledgeBase = '' } = collection ?? {};
    if (!(await this.#store.documents.tombstone({ org, id, collectionId }))) throw notFound('Document');
    this.#starter.clearDocument({ org, knowledgeBase, collectionId, documentId: id });
  }

  async #takeOn(collection: Collection, document: Omit<NewDocument, 'org' | 'collectionId'>): Promise<DocumentRecord> {
    const { org, id: collectionId, name: knowledgeBase } = collection;
    let taken: DocumentRecord;
    try {
      taken = await this.#store.documents.create({ ...document, org, collectionId });
    } catch (error) {
      // The knowledge base was deleted while the file was on its way.
      if (error instanceof StoreError && error.kind === 'not_found') throw notFound('Knowledge base');
      throw error;
    }
    const { bytes } = document;
    this.#starter.ingest({ org, knowledgeBase, collectionId, documentId: taken.id, ...(bytes !== undefined && { bytes }) });
    return taken;
  }

  async #get(org: string, collection: Collection | undefined, id: string): Promise<DocumentRecord> {
    const document = collection && (await this.#store.documents.get({ org, id, collectionId: collection.id }));
    if (document === undefined) throw notFound('Document');
    return document;
  }

  async *#chunksFrom({ org, id, chunkCount }: DocumentRecord, first: readonly StoredChunk[]): AsyncGenerator<string> {
    let page = first;
    let sent = 0;
    while (page.length > 0) {
      for (const { text } of page) yield text;
      sent += page.length;
      page = await this.#store.lookup.chunksOf({ org, documentId: id, after: page.at(-1)?.ordinal ?? -1, limit: CHUNK_PAGE });
    }
    // A client notices an answer that breaks off; it would believe one that ends early.
    if (sent !== chunkCount) throw new Error(`document ${id}: deleted while its chunks were being answered`);
  }
}
