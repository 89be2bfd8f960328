/** Serves suites of knowledge bases with real storage, search and Temporal behind a facade. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Client, Connection } from '@temporalio/client';

import type { ApiDependencies } from '../../../api/dependencies.ts';
import { openKnowledge, type Knowledge } from '../../../knowledge/open-knowledge.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import type { Store } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { startWorkerRole, unique } from '../workflows/support.ts';
import { completeDocument } from '../../support/complete-document.ts';

export interface KnowledgeMeans {
  /** Makes the dependencies of a facade. */
  readonly knowledge: (store: Store) => ApiDependencies['knowledge'];
  /** Lists every file in the storage, temporary ones too. */
  files(): Promise<readonly string[]>;
  /** Tells whether Temporal has such a workflow. */
  isStarted(workflowId: string): Promise<boolean>;
  /** Carries out the workflows that are started, until `close`. */
  startWorker(databaseUrl: string): Promise<void>;
  close(): Promise<void>;
}

/** @param instead takes the place of the real thing */
export async function knowledgeMeans(instead: Partial<ApiDependencies['knowledge']> = {}): Promise<KnowledgeMeans> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-files-'));
  const address = await temporalAddress();
  const env = {
    STORAGE_URL: pathToFileURL(folder).href,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TASK_QUEUE: unique('knowledge'),
    PARLEY_WORKER_PORT: '0',
    PARLEY_RERANK_PROFILES: JSON.stringify([{ name: 'good', provider: 'cohere', model: 'm' }]),
  };
  const config = loadConfig(env);
  const logger = createLogger({ role: 'test', level: 'silent' });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const opened: Knowledge[] = [];
  let worker: RunningRole | undefined;
  return {
    knowledge(store) {
      const knowledge = openKnowledge({ config, store, logger, registry: createRegistry({ role: 'api', version: 'test' }) });
      opened.push(knowledge);
      const { storage: files, jobs, search } = knowledge;
      return { files, jobs, search, profiles: config.PARLEY_EMBEDDING_PROFILES, rerankProfiles: config.PARLEY_RERANK_PROFILES, ...instead };
    },
    async files() {
      // A document that is cleared away meanwhile may lose its folder before it is listed.
      const entries = await eventually(() => readdir(folder, { recursive: true, withFileTypes: true }));
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
    async startWorker(databaseUrl) {
      worker = await startWorkerRole({ ...env, DATABASE_URL: databaseUrl }, logger);
    },
    async close() {
      await worker?.stop();
      for (const knowledge of opened) await knowledge.close();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Does what a worker would have done: the document is completed, with these chunks, which no search finds. */
export async function complete(store: Store, { org, id, chunks }: { org: string; id: string; chunks: readonly string[] }): Promise<void> {
  const { ingestion } = store.knowledge;
  const place = { headingPath: [], page: null, sheet: null, url: null, firstRow: null, lastRow: null };
  await ingestion.addChunks(
    { org, id },
    chunks.map((text, ordinal) => ({ ordinal, text, indexedText: text, tokens: 1, ...place })),
  );
  const terms = { terms: [1], chunks: [chunks.length] };
  await ingestion.parsed({ org, id }, { warnings: [], chunkCount: chunks.length, termTotal: chunks.length, terms });
  if ((await completeDocument(store.knowledge, { org, id })) === undefined) throw new Error(`${id} was not completed`);
}
