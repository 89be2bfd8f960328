/** What tools need of the call that they run in: the session implements it, and nothing here knows how. */

/** A passage of the knowledge base that an answer rests on; kept with the message as it is. */
export interface KnowledgeSource {
  readonly knowledge_base: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly filename: string;
  /** 0 to 1. */
  readonly score: number;
}

export interface TransferTarget {
  /** E.164 number or `sip:` URI. */
  readonly to: string;
  /** Warm: the agent speaks to the other side first. */
  readonly mode: 'Cold' | 'Warm';
  /** Whether the other side sees the number of the caller. */
  readonly showCallerNumber: boolean;
}

/** `message` is for the model, which tells the user: what happened and what can be done, without secrets. */
export type TransferOutcome = { readonly outcome: 'done' } | { readonly outcome: 'failed'; readonly message: string };

export interface ToolHost {
  /** SpeechQueue after what is being spoken or waits to be, in the order of the calls. */
  say(text: string): void;
  /** Hangs up after what is being said. */
  end(): void;
  /** Hands the call over; a web call never is. */
  transfer(target: TransferTarget): Promise<TransferOutcome>;
  /** The user's silence doesn't count until the returned function is called. Several may be pausing it at once. */
  pauseSilence(): () => void;
  /** Of the answer that comes next. */
  recordSources(sources: readonly KnowledgeSource[]): void;
}
