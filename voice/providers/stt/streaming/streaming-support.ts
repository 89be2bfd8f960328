/** Decides from an attempt to stream whether a server has streaming, where it may have none ({@link SttStreaming.optional}). */
import type { ProviderError } from '../../../../calls/provider-access/index.ts';

/** Outcome of an attempt. `unconfirmed`: connected, or still trying to, and the provider has not said that it takes audio. */
export type StreamingAttempt = 'ready' | 'unconfirmed' | ProviderError;

export interface StreamingSupport {
  /** True if the server streams; otherwise each turn is one request. */
  readonly streams: boolean;
  /** True if later calls need not try: it is about the server, not about this moment. */
  readonly lasts: boolean;
}

/** Statuses about the caller: the stream names these failures sooner than the first turn would. */
const ABOUT_THE_CALLER = new Set([401, 429]);

export function streamingSupport(attempt: StreamingAttempt): StreamingSupport {
  if (attempt === 'ready') return { streams: true, lasts: true };
  // Trying again would cost each call all the time that an attempt may take.
  if (attempt === 'unconfirmed') return { streams: false, lasts: true };
  const { kind, status = 0 } = attempt;
  if (ABOUT_THE_CALLER.has(status)) return { streams: true, lasts: false };
  // 403 is not among them: common frameworks answer it where no WebSocket is served. A key that may do nothing is named by the first turn.
  return { streams: false, lasts: kind === 'refused' };
}
