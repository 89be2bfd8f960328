import { pollUntil, type PollOptions } from '../platform/poll-until.ts';
import { isTerminal, type CallRecord, type CallRef, type CallStore } from '../store/index.ts';

/** @returns the call once it is over; undefined where it was deleted, or isn't over in time */
export async function awaitEnd(
  calls: Pick<CallStore['calls'], 'get'>,
  ref: CallRef,
  options: PollOptions,
): Promise<CallRecord | undefined> {
  const isOver = (call: CallRecord): boolean => isTerminal(call.status);
  const call = await pollUntil(
    () => calls.get(ref),
    (found) => found === undefined || isOver(found),
    options,
  );
  return call !== undefined && isOver(call) ? call : undefined;
}
