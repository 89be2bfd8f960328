/** Makes one step of a conversation. */
import type { Effect } from './events.ts';
import type { ConversationState } from './state.ts';

export class Change {
  readonly effects: Effect[] = [];
  /** Time of the event, in milliseconds since the epoch. */
  readonly at: number;
  #state: ConversationState;

  constructor(state: ConversationState, at: number) {
    this.#state = state;
    this.at = at;
  }

  get state(): ConversationState {
    return this.#state;
  }

  set(part: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...part };
  }

  emit(effect: Effect): void {
    this.effects.push(effect);
  }

  /** Returns the place of what begins now. */
  number(): number {
    const { next } = this.#state;
    this.set({ next: next + 1 });
    return next;
  }
}
