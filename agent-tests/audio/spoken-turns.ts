/** Reads what an agent said and did in each turn of a call with sound from the rows that its voice process writes. */
import type { Clock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import type { CallLogRows, CallRef, CallStore } from '../../store/index.ts';
import type { SpokenLine } from '../../calls/live-transcript.ts';
import type { AgentTurn } from '../driver.ts';
import { recordOf } from '../text/text-call.ts';

export interface SpokenTurnsOptions {
  readonly log: Pick<CallStore['log'], 'read'>;
  readonly call: CallRef;
  readonly clock: Clock;
}

/** Longest wait for the rows of spoken text, in milliseconds: the voice process writes them while it speaks. */
const ROWS_WITHIN_MS = 10_000;
const POLL_MS = 50;

export class SpokenTurns {
  readonly #options: SpokenTurnsOptions;
  readonly #taken = new Set<number>();
  readonly #lines = new Set<string>();
  readonly #began: number;

  constructor(options: SpokenTurnsOptions) {
    this.#options = options;
    this.#began = options.clock.now();
  }

  /** Takes a line of the live transcript. */
  heard({ id, role, final }: SpokenLine): void {
    if (role === 'agent' && final) this.#lines.add(id);
  }

  /** @param complete the call is over, and all of it is written */
  async take({ complete }: { readonly complete: boolean }): Promise<AgentTurn> {
    const { log, call, clock } = this.#options;
    const rows = await pollUntil(
      async () => this.#new(await log.read(call)),
      (found) => complete || agentsOf(found).length >= this.#lines.size,
      { everyMs: POLL_MS, withinMs: ROWS_WITHIN_MS, clock },
    );
    this.#lines.clear();
    for (const { seq } of [...rows.messages, ...rows.toolCalls]) this.#taken.add(seq);
    const firstWordsMs = rows.turns.find(({ v2v }) => v2v !== null)?.v2v ?? undefined;
    return {
      messages: agentsOf(rows).map(({ content }) => content),
      toolCalls: rows.toolCalls.map((each) => recordOf(each, this.#began)),
      ...(firstWordsMs !== undefined && { firstWordsMs }),
    };
  }

  /** Returns the rows that were not taken yet. A message is written when it was said, so that one with a lower number may come later. */
  #new({ messages, toolCalls, turns }: CallLogRows): CallLogRows {
    const isNew = ({ seq }: { readonly seq: number }): boolean => !this.#taken.has(seq);
    const fresh = messages.filter(isNew);
    return {
      messages: fresh,
      toolCalls: toolCalls.filter(isNew),
      // A turn has the number of its first answer.
      turns: turns.filter(({ seq }) => fresh.some((message) => message.seq === seq)),
    };
  }
}

const agentsOf = ({ messages }: CallLogRows): CallLogRows['messages'] => messages.filter(({ role }) => role === 'agent');
