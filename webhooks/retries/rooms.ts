/** How many attempts may be on their way to one endpoint from one worker: one that hangs must not keep the others' retries waiting. */
import type { Clock } from '../../platform/clock.ts';

const PER_ENDPOINT = 8;

interface Room {
  taken: number;
  readonly waiting: Set<() => void>;
}

export class Rooms {
  readonly #clock: Clock;
  readonly #perEndpoint: number;
  readonly #rooms = new Map<string, Room>();

  constructor({ clock, perEndpoint = PER_ENDPOINT }: { readonly clock: Clock; readonly perEndpoint?: number }) {
    this.#clock = clock;
    this.#perEndpoint = perEndpoint;
  }

  /**
   * Takes a place, waiting for one for up to `waitMs` milliseconds: at an endpoint that answers, places soon become free.
   *
   * @returns whether there was one; it has to be given back then
   */
  async take(uid: string, waitMs: number): Promise<boolean> {
    const room = this.#rooms.get(uid) ?? { taken: 0, waiting: new Set<() => void>() };
    this.#rooms.set(uid, room);
    if (room.taken < this.#perEndpoint) {
      room.taken += 1;
      return true;
    }
    return new Promise((resolve) => {
      const enter = (): void => {
        timer.cancel();
        resolve(true);
      };
      const timer = this.#clock.after(waitMs, () => {
        room.waiting.delete(enter);
        resolve(false);
      });
      room.waiting.add(enter);
    });
  }

  give(uid: string): void {
    const room = this.#rooms.get(uid);
    if (room === undefined) return;
    const [next] = room.waiting;
    if (next === undefined) {
      room.taken -= 1;
      if (room.taken === 0) this.#rooms.delete(uid);
      return;
    }
    // The place goes on to who has waited longest.
    room.waiting.delete(next);
    next();
  }
}
