/** Starts the long work of a request in the background: the request doesn't wait for Temporal, and doesn't fail with it. */
import type { KnowledgeJobs } from '../../knowledge/jobs/jobs.ts';
import type { CollectionJob, DocumentJob } from '../../knowledge/jobs/names.ts';
import type { Logger } from '../../platform/logging.ts';

export type StarterJobs = Pick<KnowledgeJobs, 'ingest' | 'clearDocument' | 'clearCollection'>;

export class IngestionStarter {
  readonly #jobs: StarterJobs;
  readonly #logger: Logger;
  readonly #running = new Set<Promise<void>>();

  constructor({ jobs, logger }: { readonly jobs: StarterJobs; readonly logger: Logger }) {
    this.#jobs = jobs;
    this.#logger = logger;
  }

  ingest(job: DocumentJob & { readonly small: boolean }): void {
    this.#start(job, () => this.#jobs.ingest(job));
  }

  clearDocument(job: DocumentJob): void {
    this.#start(job, () => this.#jobs.clearDocument(job));
  }

  clearCollection(job: CollectionJob): void {
    this.#start(job, () => this.#jobs.clearCollection(job));
  }

  /** Once everything is started, or known not to be. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** What is written in Postgres is what counts: the sweep of lost work finds what wasn't started. */
  #start({ org, collectionId, documentId }: CollectionJob & { readonly documentId?: string }, start: () => Promise<void>): void {
    const running = start()
      .catch((err: unknown) =>
        this.#logger.warn({ err, org, collectionId, documentId }, 'the work on a knowledge base was not started; the next sweep starts it'),
      )
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
