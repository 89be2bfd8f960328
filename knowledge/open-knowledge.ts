/** Opens the stores and services of knowledge bases that the configuration names, the same for every role. */
import { systemClock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import { temporalOf } from '../platform/temporal/access.ts';
import type { IngestionDependencies } from './ingestion/step.ts';
import { createKnowledgeJobs, type KnowledgeJobs } from './jobs/jobs.ts';
import { closeAll, openSearch, type OpenSearchOptions } from './open-search.ts';
import type { Search } from './search/search.ts';
import { openFileStorage } from './storage/open-file-storage.ts';

export interface Knowledge extends IngestionDependencies {
  readonly search: Search;
  readonly jobs: KnowledgeJobs;
  close(): Promise<void>;
}

export interface OpenKnowledgeOptions extends OpenSearchOptions {
  readonly config: Config;
}

/** Connects to nothing before it is used. @throws RangeError, VectorStoreError for addresses that can't be read */
export function openKnowledge({ config, store, logger, registry }: OpenKnowledgeOptions): Knowledge {
  const storage = openFileStorage({ url: config.STORAGE_URL });
  const opened = openSearch({ config, store, logger, registry });
  const jobs = createKnowledgeJobs({
    ...temporalOf(config),
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    logger,
  });
  const { search, vectors, embedderOf } = opened;
  return {
    knowledge: store.knowledge,
    vectors,
    storage,
    embedderOf,
    clock: systemClock,
    logger,
    search,
    jobs,
    close: () => closeAll(jobs, opened, storage),
  };
}
