/** What suites of knowledge bases have in common: real storage and Temporal behind a facade, and documents in every state. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Client, Connection } from '@temporalio/client';

import type { ApiDependencies } from '../../../api/dependencies.ts';
import { createKnowledgeJobs } from '../../../knowledge/jobs/jobs.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { createLogger } from '../../../platform/logging.ts';
import type { Store } from '../../../store/index.ts';
import { noKnowledge } from '../../support/no-knowledge.ts';
import { temporalAddress } from '../../support/temporal.ts';

export interface KnowledgeMeans {
  readonly knowledge: (store: Store) => ApiDependencies['knowledge'];
  /** Every file in the storage, temporary ones too. */
  files(): Promise<readonly string[]>;
  /** Whether Temporal has such a workflow. */
  isStarted(workflowId: string): Promise<boolean>;
  readonly folder: string;
  close(): Promise<void>;
}

export async function knowledgeMeans(instead: Partial<ApiDependencies['knowledge']> = {}): Promise<KnowledgeMeans> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-files-'));
  const address = await temporalAddress();
  const logger = createLogger({ role: 'test', level: 'silent' });
  const queue = `kb-${randomUUID()}`;
  const jobs = createKnowledgeJobs({ address, namespace: 'default', logger, queues: { small: queue, bulk: queue } });
  const storage = openFileStorage({ url: pathToFileURL(folder).href });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  return {
    folder,
    knowledge: () => ({ ...noKnowledge, files: storage, jobs, ...instead }),
    async files() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
    },
    async isStarted(workflowId) {
      return client.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => true,
          () => false,
        );
    },
    async close() {
      await jobs.close();
      await connection.close();
      storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a worker would have done: the document is completed, with these chunks. */
export async function complete(store: Store, { org, id, chunks }: { org: string; id: string; chunks: readonly string[] }): Promise<void> {
  const { ingestion } = store.knowledge;
  await ingestion.addChunks(
    { org, id },
    chunks.map((text, ordinal) => ({
      ordinal,
      text,
      indexedText: text,
      tokens: 1,
      headingPath: [],
      page: null,
      sheet: null,
      url: null,
      firstRow: null,
      lastRow: null,
    })),
  );
  await ingestion.parsed(
    { org, id },
    { warnings: [], chunkCount: chunks.length, termTotal: chunks.length, terms: { terms: [1], chunks: [chunks.length] } },
  );
  if ((await ingestion.complete({ org, id }, 'The document can be found')) === undefined) throw new Error(`${id} was not completed`);
}
