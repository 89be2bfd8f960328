/** How far the fetching or building of one program is. */
export interface BinaryProgress {
  readonly phase: 'downloading' | 'unpacking' | 'listing' | 'building' | 'waiting';
  /** Bytes while downloading, packages while building. */
  readonly done?: number;
  readonly total?: number;
  readonly elapsedMs?: number;
  readonly remainingMs?: number;
  /** Said once, in words. */
  readonly note?: string;
}

/** "2 min 05 s", "7 s". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** "12.3 MB". */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** One line for a person. */
export function describeProgress(progress: BinaryProgress): string {
  const { phase, done, total, elapsedMs, remainingMs } = progress;
  const amount = (value: number): string => (phase === 'downloading' ? megabytes(value) : String(value));
  const parts: string[] = [phase];
  if (done !== undefined && total !== undefined && total > 0) parts.push(`${Math.min(100, Math.floor((done / total) * 100))} %`);
  if (done !== undefined) parts.push(`(${amount(done)}${total === undefined || total === 0 ? '' : ` of ${amount(total)}`}${phase === 'building' ? ' packages' : ''})`);
  if (elapsedMs !== undefined) parts.push(`after ${duration(elapsedMs)}`);
  if (remainingMs !== undefined) parts.push(`about ${duration(remainingMs)} left`);
  if (progress.note !== undefined) parts.push(progress.note);
  return parts.join(' ');
}
