import { onSignals } from '../platform/on-signals.ts';
import { processIo, type Io } from './kubectl/io.ts';

/** What a process ends with that Ctrl-C has ended. */
export const INTERRUPTED = 130;

/** Runs `work`, whose signal aborts at the first Ctrl-C; a second one ends the process at once. */
export async function interruptible<T>(work: (io: Io) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const release = onSignals(['SIGINT', 'SIGTERM'], () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  });
  try {
    return await work(processIo(controller.signal));
  } finally {
    release();
  }
}
