/**
 * Limits the attempts on their way from one worker to one endpoint, and to all of one organisation: those that hang must not keep the
 * retries of others waiting.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';

export const PER_ENDPOINT = 8;

interface Places {
  taken: number;
  readonly waiting: Set<() => void>;
}

export class EndpointLimits {
  readonly #clock: Clock;
  readonly #perEndpoint: number;
  readonly #perOrganization: number;
  readonly #places = new Map<string, Places>();
  /** Number of places that each organisation has taken. */
  readonly #taken = new Map<string, number>();

  /** @param options.atOnce attempts that the worker makes at a time: an organisation gets half of them */
  constructor({
    clock,
    atOnce,
    perEndpoint = PER_ENDPOINT,
  }: {
    readonly clock: Clock;
    readonly atOnce: number;
    readonly perEndpoint?: number;
  }) {
    this.#clock = clock;
    this.#perEndpoint = perEndpoint;
    this.#perOrganization = Math.ceil(atOnce / 2);
  }

  /**
   * Takes a place, waiting for one for up to `waitMs` milliseconds: at an endpoint that answers, places soon become free.
   *
   * @returns releases the place; undefined where there was none
   */
  async acquire({ uid, org }: Pick<Endpoint, 'uid' | 'org'>, waitMs: number): Promise<(() => void) | undefined> {
    const taken = this.#taken.get(org) ?? 0;
    if (taken >= this.#perOrganization) return undefined;
    this.#taken.set(org, taken + 1);
    const leave = (): void => {
      const left = (this.#taken.get(org) ?? 0) - 1;
      if (left > 0) this.#taken.set(org, left);
      else this.#taken.delete(org);
    };
    if (!(await this.#acquirePlace(uid, waitMs))) {
      leave();
      return undefined;
    }
    return () => {
      leave();
      this.#releasePlace(uid);
    };
  }

  async #acquirePlace(uid: string, waitMs: number): Promise<boolean> {
    const places = this.#places.get(uid) ?? { taken: 0, waiting: new Set<() => void>() };
    this.#places.set(uid, places);
    if (places.taken < this.#perEndpoint) {
      places.taken += 1;
      return true;
    }
    return new Promise((resolve) => {
      const take = (): void => {
        timer.cancel();
        resolve(true);
      };
      const timer = this.#clock.after(waitMs, () => {
        places.waiting.delete(take);
        resolve(false);
      });
      places.waiting.add(take);
    });
  }

  #releasePlace(uid: string): void {
    const places = this.#places.get(uid);
    if (places === undefined) return;
    const [next] = places.waiting;
    if (next === undefined) {
      places.taken -= 1;
      if (places.taken === 0) this.#places.delete(uid);
      return;
    }
    // The place goes on to who has waited longest.
    places.waiting.delete(next);
    next();
  }
}
