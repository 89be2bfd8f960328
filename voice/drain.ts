import type { Clock } from '../platform/clock.ts';
import { pollUntil } from '../platform/poll-until.ts';

/** The part of LiveKit's agent server that is needed here. */
export interface Drainable {
  /** Takes no more calls from its first moment on. */
  drain(timeoutMs: number): Promise<void>;
}

export interface DrainOptions {
  readonly server: Drainable;
  /** Number of its calls, those that wait for a process among them. */
  readonly live: () => number;
  /** Longest time that the calls may go on, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const POLL_MS = 100;

/**
 * Takes no more calls, and waits until none is live.
 * The server's own `drain` waits for those that it had when it began: calls that were accepted a moment before are counted.
 * @throws Error when calls are live after `timeoutMs`
 */
export async function drainCalls({ server, live, timeoutMs, clock }: DrainOptions): Promise<void> {
  const until = clock.monotonic() + timeoutMs;
  await server.drain(timeoutMs);
  const left = await pollUntil(live, (calls) => calls === 0, { everyMs: POLL_MS, withinMs: until - clock.monotonic(), clock });
  if (left > 0) throw new Error(`${left} calls were live when their time was up: they are ended`);
}
