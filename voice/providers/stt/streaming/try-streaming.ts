/** Tries at the start of a call whether a server streams, where its protocol alone does not say, and remembers it. */
import type { Clock } from '../../../../platform/clock.ts';
import { toCallFailure, ProviderError, type ProviderConnect } from '../../../../calls/provider-access/index.ts';
import { AccountMemory } from '../../account-memory.ts';
import { parseMessage } from '../../protocol-support.ts';
import type { SttStreaming } from './protocol.ts';
import { streamingSupport, type StreamingAttempt } from './streaming-support.ts';

export interface TryStreamingOptions {
  readonly streaming: SttStreaming;
  readonly provider: string;
  readonly connect: ProviderConnect;
  readonly clock: Clock;
  /** Longest time for the attempt, in milliseconds. */
  readonly withinMs: number;
}

/** Longest time from connecting to the provider's word that it takes audio, in milliseconds: the call waits for it. */
export const STREAMING_ATTEMPT_MS = 2_000;

const known = new AccountMemory<boolean>();

/**
 * Returns whether a server streams; kept for ten minutes for each address and account. Never fails: what is wrong shows when it is used.
 */
export async function supportsStreaming(options: TryStreamingOptions): Promise<boolean> {
  const { streaming, clock } = options;
  const found = known.get(streaming, clock);
  if (found !== undefined) return found;
  const support = streamingSupport(await attempt(options));
  if (support.lasts) known.set(streaming, support.streams, clock);
  return support.streams;
}

async function attempt({ streaming, provider, connect, clock, withinMs }: TryStreamingOptions): Promise<StreamingAttempt> {
  const limit = new AbortController();
  const timer = clock.after(withinMs, () => limit.abort());
  try {
    const socket = await connect(streaming.url, { headers: streaming.headers, signal: limit.signal });
    const session = streaming.session();
    try {
      for (const message of session.begin?.() ?? []) socket.send(message);
      for await (const message of socket.messages())
        for (const event of session.read(parseMessage(message))) {
          if (event.type === 'ready') return 'ready';
          if (event.type === 'failed') return toCallFailure({ part: 'stt', provider }, event.kind, event.message);
        }
      return 'unconfirmed';
    } finally {
      socket.close();
    }
  } catch (error) {
    return error instanceof ProviderError ? error : 'unconfirmed';
  } finally {
    timer.cancel();
  }
}
