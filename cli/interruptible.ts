import { processIo, type Io } from './kubectl/io.ts';

/** What a process ends with that Ctrl-C has ended. */
export const INTERRUPTED = 130;

/** Runs `work`, whose signal aborts at the first Ctrl-C; a second one ends the process at once. */
export async function interruptible<T>(work: (io: Io) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
  try {
    return await work(processIo(controller.signal));
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal);
  }
}

/** Ends the process once its exit code is set: the media library keeps threads that would not end by themselves. */
export function endOfProcess(): void {
  setImmediate(() => process.exit());
}
