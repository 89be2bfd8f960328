import { keyOf, type Informer, type Stored } from '../../kube/index.ts';
import type { PhoneNumber } from '../../crds/index.ts';
import type { Logger } from '../../platform/logging.ts';
import type { NumberOwner } from '../../store/index.ts';
import type { KeyedQueue } from '../runtime/reconciler.ts';
import { namespaceOf } from '../runtime/snapshot-reader.ts';
import type { NumberClaimCache } from './number-claim-cache.ts';

export interface NumberReservationsOptions {
  readonly informer: Pick<Informer<PhoneNumber>, 'cache'>;
  readonly claims: NumberClaimCache;
  readonly withNumber: (number: string) => readonly Stored<PhoneNumber>[];
  readonly isOrganization: (namespace: string) => boolean;
  /** The only namespace to reconcile; all where undefined. */
  readonly namespace: string | undefined;
  readonly logger: Logger;
}

/** Reserves the numbers of PhoneNumbers that are gone for their organisation, and reconciles the rivals. Only the leader does. */
export class NumberReservations {
  readonly #options: NumberReservationsOptions;
  #queue: KeyedQueue | undefined;

  constructor(options: NumberReservationsOptions) {
    this.#options = options;
  }

  lead(queue: KeyedQueue): () => void {
    this.#queue = queue;
    return () => (this.#queue = undefined);
  }

  /** Reconciles the rivals of a number that was claimed. An object that went while it was claiming was released too early. */
  claimed(owner: NumberOwner): void {
    if (this.#options.withNumber(owner.number).some(({ metadata }) => metadata.uid === owner.uid)) this.#enqueueRivals([owner.number]);
    else this.release(owner);
  }

  /** Reserves a number whose object is gone, and reconciles its rivals, to report until when. */
  release(owner: NumberOwner): void {
    if (this.#queue === undefined) return;
    this.#inBackground(this.#options.claims.release(owner).then(() => this.#enqueueRivals([owner.number])));
  }

  /** Reserves the numbers of objects that went unnoticed: while no operator ran, while Postgres was unavailable, or with their organisation. */
  releaseGone(): void {
    if (this.#queue === undefined) return;
    const { informer, claims, isOrganization, namespace } = this.#options;
    const present = informer.cache.list().filter((object) => isOrganization(namespaceOf(object)));
    const uids = present.map(({ metadata }) => metadata.uid);
    this.#inBackground(claims.releaseOthers(uids, namespace).then((numbers) => this.#enqueueRivals(numbers)));
  }

  #enqueueRivals(numbers: readonly string[]): void {
    for (const number of numbers) for (const object of this.#options.withNumber(number)) this.#queue?.enqueue(keyOf(object));
  }

  #inBackground(work: Promise<void>): void {
    work.catch((err: unknown) => this.#options.logger.warn({ err }, 'failed to reserve phone numbers; retrying with the next resync'));
  }
}
