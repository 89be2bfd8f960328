/** Limits work that someone else's text may make endless: patterns, nested schemas. */
import { createContext, Script } from 'node:vm';

/** The limit is doubled this often for a thread that got none of the processor's time meanwhile. */
const DOUBLINGS = 4;

/**
 * Runs `work` in a script, because Node stops a script that runs too long by the clock on the wall, with all that it called. Where the
 * thread had to wait for the processor the work begins again, with more time: it may be ordinary work on a busy machine.
 *
 * @param ms of the processor's time, about
 * @param work may be called several times
 * @returns undefined when `work` takes longer, or fails
 */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  const context = createContext({ work });
  const script = new Script('work()');
  for (let timeout = ms; timeout <= ms * 2 ** DOUBLINGS; timeout *= 2) {
    const before = process.threadCpuUsage();
    try {
      return script.runInContext(context, { timeout }) as T;
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      if (!isTimeout(error) || (user + system) / 1000 >= ms / 2) return undefined;
    }
  }
  return undefined;
}

/** Recognises the error by its code, because it is of the context's own class. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
