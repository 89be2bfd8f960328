/**
 * Chooses the finish reason of a served call: {@link FinishDecision} keeps the first one, and the functions below derive those that follow
 * from a disconnect or from a provider. The table in job/call-job.ts names them all.
 *
 * Calls that no job serves get theirs elsewhere: when a dial fails in calls/sip/gateway.ts, when an inbound call is refused in phone/inbound.ts,
 * when the job is lost or the user never comes in calls/stale-call-sweeper.ts.
 */
import type { FinishReason } from '../store/index.ts';
import type { ProviderError, ProviderErrorKind } from '../calls/provider-access/index.ts';

/** A finish reason, or `elsewhere`: others ended the call, and this job has nothing to record. */
export type EndReason = FinishReason | 'elsewhere';

export interface Finish {
  readonly reason: EndReason;
  /** Says farewell to the caller before hanging up. */
  readonly farewell: (() => Promise<void>) | undefined;
}

/** Decides why a call ends: the first reason counts, from wherever it comes. */
export class FinishDecision {
  readonly #made = Promise.withResolvers<Finish>();
  readonly #controller = new AbortController();
  #finish: Finish | undefined;

  /** Decides the reason, unless there is one. @returns whether this is the reason */
  decide(reason: EndReason, farewell?: () => Promise<void>): boolean {
    if (this.#finish !== undefined) return false;
    this.#finish = { reason, farewell };
    this.#made.resolve(this.#finish);
    this.#controller.abort();
    return true;
  }

  /** A signal that aborts as soon as there is a reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): EndReason | undefined {
    return this.#finish?.reason;
  }

  /** Resolves with the first reason. */
  made(): Promise<Finish> {
    return this.#made.promise;
  }
}

const LLM_REASONS = {
  refused: 'llm_websocket_runtime_error',
  unreachable: 'llm_websocket_connection_lost',
  connection_lost: 'llm_websocket_connection_lost',
  runtime: 'llm_websocket_runtime_error',
  payload: 'llm_websocket_payload_corruption',
  empty: 'llm_websocket_payload_corruption',
} as const satisfies Readonly<Record<ProviderErrorKind, FinishReason>>;

/**
 * Returns the finish reason after a provider's failure.
 * @param options.answeredBefore whether the LLM has answered in this call: one that never worked is set up wrongly
 */
export function finishReasonOfProviderFailure(
  { part, kind }: Pick<ProviderError, 'part' | 'kind'>,
  { answeredBefore }: { readonly answeredBefore: boolean },
): FinishReason {
  if (part === 'stt') return 'speech_recognition_error';
  if (part === 'tts') return 'native_platform_internal_error';
  if (!answeredBefore && (kind === 'refused' || kind === 'unreachable')) return 'llm_websocket_initialization_error';
  return LLM_REASONS[kind];
}
