import { onSignals } from '../platform/on-signals.ts';
import { processIo, type Io } from './kubectl/io.ts';

/** Exit code of a process that Ctrl-C has ended. */
export const INTERRUPTED = 130;

/**
 * Runs `work`, whose signal aborts at the first Ctrl-C; a second one ends the process at once.
 * @param options.whileRead true for a command that prints without end: the signal aborts, too, when nobody reads standard output any more
 */
export async function interruptible<T>(
  work: (io: Io) => Promise<T>,
  { whileRead = false }: { readonly whileRead?: boolean } = {},
): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  if (whileRead) process.stdout.once('error', stop);
  const release = onSignals(['SIGINT', 'SIGTERM'], () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  });
  try {
    return await work(processIo(controller.signal));
  } finally {
    release();
    process.stdout.off('error', stop);
  }
}
