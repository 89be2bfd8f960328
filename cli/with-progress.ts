import { interruptible } from './interruptible.ts';
import { ProgressBar } from './progress-bar.ts';

/** Runs a long task: it shows its steps on standard error, and Ctrl-C aborts the signal. */
export function withProgress<T>(work: (progress: ProgressBar, signal: AbortSignal) => Promise<T>): Promise<T> {
  return interruptible(async (io) => {
    const progress = new ProgressBar(io, true);
    return work(progress, io.signal).finally(() => progress.clear());
  });
}
