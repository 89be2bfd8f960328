import { sleep, type Clock } from '../../../platform/clock.ts';
import type { RequestState } from '../../http/request-state.ts';
import { BYTES_PER_REQUEST, ENTRIES_PER_REQUEST } from './limits.ts';

/**
 * Counts an upload against the rate limits of its key as it comes: {@link ENTRIES_PER_REQUEST} entries are as much as a request, and so are
 * {@link BYTES_PER_REQUEST} bytes. Over a limit it is slowed down, and nothing is refused.
 */
export class UploadPace {
  readonly #state: Pick<RequestState, 'countRequest' | 'signal'>;
  readonly #clock: Clock;
  #entries = 0;
  #bytes = 0;
  /** Starts with the request itself. */
  #counted = 1;
  #counting = Promise.resolve();

  constructor(state: Pick<RequestState, 'countRequest' | 'signal'>, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** @throws the reason of the request's signal */
  entries(count: number): Promise<void> {
    this.#entries += count;
    return this.#inTurn();
  }

  /** @throws the reason of the request's signal */
  bytes(count: number): Promise<void> {
    this.#bytes += count;
    return this.#inTurn();
  }

  #inTurn(): Promise<void> {
    this.#counting = this.#counting.then(() => this.#count());
    return this.#counting;
  }

  async #count(): Promise<void> {
    const due = Math.max(Math.ceil(this.#entries / ENTRIES_PER_REQUEST), Math.ceil(this.#bytes / BYTES_PER_REQUEST));
    while (this.#counted < due) {
      const decision = this.#state.countRequest?.('wait');
      if (decision === undefined || decision.allowed) this.#counted += 1;
      else await sleep(this.#clock, Math.max(...decision.limits.map(({ standing }) => standing.nextInMs)), this.#state.signal);
    }
  }
}
