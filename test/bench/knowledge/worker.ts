/** Runs a worker as it is shipped, in a process of its own, and documents that go through all of it. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { SMALL_FILE_BYTES } from '../../../knowledge/jobs/names.ts';
import { openKnowledge } from '../../../knowledge/open-knowledge.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { type Collection, type DocumentRecord, newDocumentId } from '../../../store/index.ts';
import { ensureBundle } from '../harness/bundle.ts';
import { startRole } from '../harness/role.ts';
import type { KnowledgeHost } from './host.ts';
import { fileKey } from '../../../knowledge/ingestion/clear-document.ts';

export interface File {
  readonly name: string;
  readonly content: Uint8Array;
}

export interface Worker {
  /** Takes a file on as an upload does. @returns its document's id */
  add(to: Collection, file: File): Promise<string>;
  /** Waits for a document's end. @throws Error when it failed */
  ended(of: Collection, id: string): Promise<{ readonly document: DocumentRecord; readonly at: number }>;
  stop(): Promise<void>;
}

/** Time between two looks at a document, in milliseconds: no figure is finer than that. */
const lookEveryMs = 25;

export async function startWorker(host: KnowledgeHost, progress: (line: string) => void): Promise<Worker> {
  await ensureBundle(progress);
  const env = {
    DATABASE_URL: host.databaseUrl,
    TEMPORAL_ADDRESS: await host.temporalAddress(),
    TEMPORAL_TASK_QUEUE: `bench-${randomBytes(4).toString('hex')}`,
    STORAGE_URL: host.storageUrl,
  };
  const role = await startRole({ role: 'worker', env });
  const knowledge = openKnowledge({
    config: loadConfig(env),
    store: host.store,
    logger: createLogger({ role: 'bench', level: 'silent' }),
    registry: createRegistry({ role: 'bench', version: 'bench' }),
  });
  const { documents } = host.store.knowledge;
  return {
    async add({ org, id: collectionId, name: knowledgeBase }, { name: filename, content }) {
      const id = newDocumentId();
      const objectKey = fileKey(org, id);
      const stored = await knowledge.storage.put(objectKey, Readable.from([content]), { maxBytes: 50e6 });
      const extension = filename.slice(filename.lastIndexOf('.') + 1);
      await documents.create({ org, id, collectionId, kind: 'file', filename, extension, objectKey, ...stored });
      await knowledge.jobs.ingest({ org, knowledgeBase, collectionId, documentId: id, small: stored.bytes <= SMALL_FILE_BYTES });
      return id;
    },
    async ended({ org }, id) {
      for (;;) {
        const document = await documents.get({ org, id });
        if (document === undefined) throw new Error(`document ${id} is gone`);
        if (document.status === 'failed') throw new Error(`${document.filename} failed: ${document.errorCode} ${document.message}`);
        if (document.status === 'completed') return { document, at: performance.now() };
        await delay(lookEveryMs);
      }
    },
    async stop() {
      await role.stop();
      await knowledge.close();
    },
  };
}
