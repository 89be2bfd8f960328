/** What of a call is there only after a while, read again and again. */
import type { ShownCall } from '../../session/record.ts';
import { RestRefusalError, type Rest } from './rest.ts';

export interface Patience {
  /** In milliseconds. */
  readonly everyMs: number;
  readonly withinMs: number;
  /** Aborted when no one waits any more. */
  readonly signal: AbortSignal;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Reads the record of a call until `done`. What was read once is read again after a reading that fails: the server may be starting anew.
 * @param record an earlier reading
 * @param onRecord for each reading, `signal` permitting
 * @returns the last reading
 * @throws what the first reading fails with, and RestRefusalError
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

/** Another reading would be, too. */
function isRefused(error: unknown): boolean {
  return error instanceof RestRefusalError && error.status < 500 && error.status !== 429;
}

/** The recording, which is stored some seconds after the end of a call. @returns undefined where there is none in time */
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
