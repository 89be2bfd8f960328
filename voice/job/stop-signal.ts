/** Aborts when a job process has to stop before its call is over. */

/** Of Node's `process`, as a child of the agent server. */
export interface ChildProcess {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/**
 * Aborts when the agent server asks for it, which it does once its drain timeout is over, and when the agent server is gone: the process would be
 * ended some seconds later, and nothing would be recorded.
 */
export function stopSignalOf(child: ChildProcess): AbortSignal {
  const controller = new AbortController();
  child.on('message', (message) => {
    if ((message as { readonly case?: unknown } | null)?.case === 'shutdownRequest') controller.abort();
  });
  child.once('disconnect', () => controller.abort());
  return controller.signal;
}
