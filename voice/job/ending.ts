/** Why a call ends: the first reason counts, whoever gives it. */
import type { FinishReason } from '../../store/index.ts';

/** `elsewhere`: somebody else has ended it, and there is nothing left to write down. */
export type EndReason = FinishReason | 'elsewhere';

export interface End {
  readonly reason: EndReason;
  /** What the caller should still hear before it is quiet; undefined for nothing. */
  readonly farewell: (() => Promise<void>) | undefined;
}

export class Ending {
  readonly #decided = Promise.withResolvers<End>();
  readonly #controller = new AbortController();
  #end: End | undefined;

  /** @returns whether this is the reason */
  decide(reason: EndReason, farewell?: () => Promise<void>): boolean {
    if (this.#end !== undefined) return false;
    this.#end = { reason, farewell };
    this.#decided.resolve(this.#end);
    this.#controller.abort();
    return true;
  }

  /** Aborts as soon as the call has a reason to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): EndReason | undefined {
    return this.#end?.reason;
  }

  /** Resolves with the first reason. */
  decided(): Promise<End> {
    return this.#decided.promise;
  }
}
