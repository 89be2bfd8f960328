/** How many attempts may be on their way to one endpoint from one worker: one that hangs must not keep the others' retries waiting. */
import type { Clock } from '../../platform/clock.ts';

const PER_ENDPOINT = 8;

interface Places {
  taken: number;
  readonly waiting: Set<() => void>;
}

export class EndpointLimits {
  readonly #clock: Clock;
  readonly #perEndpoint: number;
  readonly #places = new Map<string, Places>();

  constructor({ clock, perEndpoint = PER_ENDPOINT }: { readonly clock: Clock; readonly perEndpoint?: number }) {
    this.#clock = clock;
    this.#perEndpoint = perEndpoint;
  }

  /**
   * Takes a place, waiting for one for up to `waitMs` milliseconds: at an endpoint that answers, places soon become free.
   *
   * @returns whether there was one; it has to be released then
   */
  async acquire(uid: string, waitMs: number): Promise<boolean> {
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

  release(uid: string): void {
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
