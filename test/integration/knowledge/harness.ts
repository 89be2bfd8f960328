/** Runs a knowledge base with everything behind it but HTTP: real Postgres, Temporal and files, and a worker of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import { onTestFinished } from 'vitest';

import { SMALL_FILE_BYTES } from '../../../knowledge/jobs/names.ts';
import { type Knowledge, openKnowledge } from '../../../knowledge/open-knowledge.ts';
import type { SearchHit } from '../../../knowledge/search/search.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { type Collection, type DocumentRecord, newDocumentId, type Store } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { query as runSql } from '../../support/sql.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { unique, startWorkerRole } from '../workflows/support.ts';
import { documentFolder, fileKey } from '../../../knowledge/ingestion/clear-document.ts';

export interface KnowledgeHarness {
  readonly env: Readonly<Record<string, string>>;
  readonly store: Store;
  readonly knowledge: Knowledge;
  readonly collection: Collection;
  /** Makes another knowledge base, of `org` (the first one's by default). */
  another(more: { readonly org?: string; readonly name?: string }): Promise<Collection>;
  /** Takes a file on as an upload does. @returns its document's id */
  add(
    filename: string,
    content: string | Uint8Array,
    more?: {
      readonly metadata?: Readonly<Record<string, string>>;
      readonly to?: Collection;
      /** Set if the document takes its turn among the small files; by default its size decides. */
      readonly small?: boolean;
    },
  ): Promise<string>;
  /** Resolves at the document's end. */
  ended(documentId: string, of?: Collection): Promise<DocumentRecord>;
  search(
    query: string,
    more?: { readonly topK?: number; readonly filter?: Readonly<Record<string, string>>; readonly in?: Collection },
  ): Promise<readonly SearchHit[]>;
  sql<R extends object>(text: string, values?: unknown[]): Promise<readonly R[]>;
  /** Removes a document as a deletion does. */
  remove(documentId: string): Promise<void>;
  /** Lists the files of a document that are in the storage. */
  files(documentId: string): Promise<readonly string[]>;
}

const org = 'acme';

export interface HarnessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Without a worker nothing is done until somebody starts one. */
  readonly worker?: boolean;
  readonly documentLanguage?: string;
  readonly embedding?: { readonly profile: string; readonly model: string; readonly dimension: number };
}

/** Everything goes with the test that asked for it. */
export async function knowledgeHarness(options: HarnessOptions = {}): Promise<KnowledgeHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-knowledge-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const url = options.env?.['DATABASE_URL'] ?? (await migratedDatabase()).url;
  const env = {
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: options.env?.['TEMPORAL_ADDRESS'] ?? (await temporalAddress()),
    TEMPORAL_TASK_QUEUE: unique('knowledge'),
    STORAGE_URL: pathToFileURL(folder).href,
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    PARLEY_WORKER_PORT: '0',
    ...options.env,
  };
  const config = loadConfig(env);
  const logger = createLogger({ role: 'test', level: 'silent' });
  const registry = createRegistry({ role: 'test', version: 'test' });
  const store = openPatientStore(url, { poolSize: 8, logger, registry });
  const knowledge = openKnowledge({ config, store, logger, registry });
  onTestFinished(async () => {
    await knowledge.close();
    await store.close();
  });
  if (options.worker !== false) await startWorker(env);
  const { profile = 'default', model = 'bm25', dimension = 0 } = options.embedding ?? {};
  const another: KnowledgeHarness['another'] = (more) => {
    const name = more.name ?? unique('base');
    const spec = { language: options.documentLanguage ?? 'en', maxTokens: 400, overlapTokens: 50, profile, model, dimension };
    return store.knowledge.collections.ensure({ org, ...more, name, uid: unique('uid'), ...spec });
  };
  const collection = await another({ name: 'manuals' });

  return {
    env,
    store,
    knowledge,
    collection,
    another,
    async add(filename, content, { metadata = {}, to = collection, small } = {}) {
      const id = newDocumentId();
      const objectKey = fileKey(to.org, id);
      const stored = await knowledge.storage.put(objectKey, Readable.from([Buffer.from(content)]), { maxBytes: 50e6 });
      const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
      const document = { org: to.org, id, collectionId: to.id, kind: 'file', filename, extension, objectKey, ...stored, metadata } as const;
      await store.knowledge.documents.create(document);
      await knowledge.jobs
        .ingest({
          org: to.org,
          knowledgeBase: 'manuals',
          collectionId: to.id,
          documentId: id,
          small: small ?? stored.bytes <= SMALL_FILE_BYTES,
        })
        // The sweep starts the workflow: that is what these tests are about.
        .catch(() => undefined);
      return id;
    },
    async ended(documentId, of = collection) {
      let document: DocumentRecord | undefined;
      await eventually(async () => {
        document = await store.knowledge.documents.get({ org: of.org, id: documentId });
        if (document === undefined || document.status === 'processing') throw new Error(`still ${document?.stage}`);
      });
      return document as DocumentRecord;
    },
    async search(query, { topK = 5, filter, in: base = collection } = {}) {
      const found = await knowledge.search.search({ org: base.org, knowledgeBase: base.name, query, topK, ...(filter && { filter }) });
      if (found === undefined) throw new Error(`there is no collection ${base.name}`);
      return found;
    },
    sql: (text, values) => runSql(url, text, values),
    async remove(documentId) {
      await store.knowledge.documents.tombstone({ org, id: documentId, collectionId: collection.id });
      await knowledge.jobs.clearDocument({ org, knowledgeBase: 'manuals', collectionId: collection.id, documentId }).catch(() => undefined);
    },
    files: (documentId) => knowledge.storage.list(documentFolder(org, documentId), { limit: 100 }),
  };
}

/** Starts a worker in this process, until the test is over or `stop` is called. */
export async function startWorker(env: Readonly<Record<string, string>>): Promise<{ readonly stop: () => Promise<void> }> {
  const logger = createLogger({ role: 'worker', level: process.env['PARLEY_TEST_LOG'] ?? 'silent' });
  const { stop } = await startWorkerRole(env, logger);
  onTestFinished(stop);
  return { stop };
}
