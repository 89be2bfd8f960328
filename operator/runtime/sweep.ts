/**
 * Takes out of service what is left of objects that went unnoticed: while no operator ran, or released while Postgres was unavailable. It runs
 * at start, with every resync and after each outage.
 */
import type { Informer, KubeObject, Stored } from '../../kube/index.ts';
import type { Logger } from '../../platform/logging.ts';
import type { KeyedQueue } from './reconciler.ts';

export interface SweepOptions<T extends KubeObject> {
  readonly kind: string;
  readonly informer: Pick<Informer<T>, 'cache'>;
  readonly idOf: (object: Stored<T>) => string;
  /** Takes all others out of service. @returns their keys */
  readonly retireOthers: (living: readonly string[]) => Promise<readonly string[]>;
  readonly logger: Logger;
}

export class Sweep<T extends KubeObject> {
  readonly #options: SweepOptions<T>;
  #queue: KeyedQueue | undefined;

  constructor(options: SweepOptions<T>) {
    this.#options = options;
  }

  /** A standby's cache may not be complete, and what is missing there would be taken for gone. */
  lead(queue: KeyedQueue): () => void {
    this.#queue = queue;
    return () => (this.#queue = undefined);
  }

  readonly run = (): void => {
    if (this.#queue === undefined) return;
    const { kind, logger } = this.#options;
    this.#retire().catch((err: unknown) =>
      logger.warn({ err, kind }, 'failed to retire what is left of objects that are gone; retrying with the next resync'),
    );
  };

  async #retire(): Promise<void> {
    const { kind, informer, idOf, retireOthers, logger } = this.#options;
    const gone = await retireOthers(informer.cache.list().map(idOf));
    if (gone.length === 0) return;
    logger.info({ kind, gone: gone.slice(0, 10), count: gone.length }, 'retired what is left of objects that are gone');
    // One that came while the statement ran is put into service again.
    for (const key of gone) this.#queue?.enqueue(key);
  }
}
