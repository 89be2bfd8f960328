import { AsyncLocalStorage } from 'node:async_hooks';

import type { KnowledgeJobs } from './jobs.ts';
import { beginsSmall, type CollectionJob, type DocumentJob } from './names.ts';
import type { Logger } from '../../platform/logging.ts';

export interface JobStarterOptions {
  readonly jobs: Pick<KnowledgeJobs, 'ingest' | 'clearDocument' | 'clearCollection'>;
  readonly logger: Logger;
}

/** Most starts that are under way at once. */
const AT_ONCE = 4;
/** Most starts that wait. The worker's sweep makes all others. */
const WAITING_LIMIT = 10_000;

/**
 * Starts work in Temporal in the background of requests and reconciles, which must not wait for it. Nothing depends on a start: the work's
 * row is in Postgres, and a worker begins it if nobody has within a minute.
 */
export class JobStarter {
  readonly #options: JobStarterOptions;
  /** Waiting starts by organisation and knowledge base: those of one base keep their order; bases take turns, and so do organisations. */
  readonly #waiting = new Map<string, Map<string, (() => Promise<void>)[]>>();
  #waitingCount = 0;
  readonly #running = new Set<Promise<void>>();
  #away = false;
  #closed = false;

  constructor(options: JobStarterOptions) {
    this.#options = options;
  }

  /** @param job - `bytes`: size of the content, where there is one before it is fetched */
  ingest({ bytes, ...job }: DocumentJob & { readonly bytes?: number }): void {
    this.#add(job, () => this.#options.jobs.ingest({ ...job, small: beginsSmall({ bytes }) }));
  }

  clearDocument(job: DocumentJob): void {
    this.#add(job, () => this.#options.jobs.clearDocument(job));
  }

  clearCollection(job: CollectionJob): void {
    this.#add(job, () => this.#options.jobs.clearCollection(job));
  }

  /** Starts nothing more, and waits for the starts that are under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#dropWaiting();
    await Promise.all(this.#running);
  }

  #add({ org, collectionId }: CollectionJob, start: () => Promise<void>): void {
    if (this.#closed || this.#waitingCount >= WAITING_LIMIT) return;
    // The start may run later, when another one ends, but it still belongs to the trace of its own request.
    const bound = AsyncLocalStorage.bind(start);
    const bases = this.#waiting.get(org) ?? new Map<string, (() => Promise<void>)[]>();
    const waiting = bases.get(collectionId) ?? [];
    waiting.push(bound);
    this.#waiting.set(org, bases.set(collectionId, waiting));
    this.#waitingCount += 1;
    this.#next();
  }

  #next(): void {
    while (this.#running.size < AT_ONCE) {
      const start = this.#take();
      if (start === undefined) return;
      const running = this.#run(start).finally(() => {
        this.#running.delete(running);
        this.#next();
      });
      this.#running.add(running);
    }
  }

  #take(): (() => Promise<void>) | undefined {
    const [[org, bases] = []] = this.#waiting;
    const [[base, waiting] = []] = bases ?? [];
    if (org === undefined || bases === undefined || base === undefined || waiting === undefined) return undefined;
    const start = waiting.shift();
    this.#waitingCount -= 1;
    // The base and the organisation go to the ends of their queues.
    bases.delete(base);
    if (waiting.length > 0) bases.set(base, waiting);
    this.#waiting.delete(org);
    if (bases.size > 0) this.#waiting.set(org, bases);
    return start;
  }

  #dropWaiting(): void {
    this.#waiting.clear();
    this.#waitingCount = 0;
  }

  async #run(start: () => Promise<void>): Promise<void> {
    try {
      await start();
      this.#away = false;
    } catch (error) {
      // Each of the other starts would wait as long.
      this.#dropWaiting();
      if (!this.#away)
        this.#options.logger.warn(
          { cause: String(error) },
          'failed to start a workflow in Temporal; the worker starts it when Temporal is back',
        );
      this.#away = true;
    }
  }
}
