/** Reads again and again until the late parts of a call are there. */
import type { ShownCall } from '../../session/record.ts';
import { RestRefusalError, type Rest } from './rest.ts';

export interface Patience {
  /** Time between two readings, in milliseconds. */
  readonly everyMs: number;
  readonly withinMs: number;
  /** Aborts when no one waits any more. */
  readonly signal: AbortSignal;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Reads the record of a call until `done`. Once a reading has succeeded, one that fails is repeated: the server may be starting anew.
 * @param record an earlier reading
 * @param onRecord called with each reading, unless `signal` has aborted
 * @returns the last reading
 * @throws the error of the first reading, and RestRefusalError
 */
export async function readUntil(
  rest: Pick<Rest, 'call'>,
  id: string,
  {
    done,
    record,
    onRecord = () => undefined,
    everyMs,
    withinMs,
    signal,
  }: Patience & {
    readonly done: (record: ShownCall) => boolean;
    readonly record?: ShownCall;
    readonly onRecord?: (record: ShownCall) => void;
  },
): Promise<ShownCall> {
  for (const startedAt = Date.now(); ; await pause(everyMs)) {
    try {
      record = await rest.call(id);
    } catch (error) {
      if (record === undefined || isRefused(error)) throw error;
    }
    if (!signal.aborted) onRecord(record);
    if (done(record) || signal.aborted || Date.now() - startedAt > withinMs) return record;
  }
}

/** Returns whether another reading would be refused, too. */
function isRefused(error: unknown): boolean {
  return error instanceof RestRefusalError && error.status < 500 && error.status !== 429;
}

/** Waits for the recording, which is stored some seconds after the end of a call. @returns undefined where there is none in time */
export async function awaitRecording(
  rest: Pick<Rest, 'recording'>,
  id: string,
  { everyMs, withinMs, signal }: Patience,
): Promise<Blob | undefined> {
  for (const startedAt = Date.now(); !signal.aborted; await pause(everyMs)) {
    try {
      return await rest.recording(id);
    } catch (error) {
      const isLate = error instanceof RestRefusalError && (error.status === 404 || error.status === 409);
      if (!isLate) throw error;
    }
    if (Date.now() - startedAt >= withinMs) break;
  }
  return undefined;
}
