import { AsyncLocalStorage } from 'node:async_hooks';

import type { KnowledgeJobs } from './jobs.ts';
import { beginsSmall, type CollectionJob, type DocumentJob } from './names.ts';
import type { Logger } from '../../platform/logging.ts';

export interface JobStarterOptions {
  readonly jobs: Pick<KnowledgeJobs, 'ingest' | 'clearDocument' | 'clearCollection'>;
  readonly logger: Logger;
}

/** Starts under way at once. */
const AT_ONCE = 4;
/** Starts that wait. What is beyond is left to the worker's sweep. */
const WAITING_LIMIT = 10_000;

/**
 * Starts work in Temporal in the background of requests and reconciles, which must not wait for it. Nothing depends on a start: its row in
 * Postgres says what is to be done, and a worker that finds it not begun within the minute begins it.
 */
export class JobStarter {
  readonly #options: JobStarterOptions;
  /** By organisation and knowledge base: those of one base in the order in which they came; bases take turns, and so do organisations. */
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

  /** Starts nothing more, and waits for what is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#dropWaiting();
    await Promise.all(this.#running);
  }

  #add({ org, collectionId }: CollectionJob, start: () => Promise<void>): void {
    if (this.#closed || this.#waitingCount >= WAITING_LIMIT) return;
    // It starts later, when another start ends: it still belongs to the trace of its own request.
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
    // To the end of both lines.
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
      // Each of the others would wait as long.
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
