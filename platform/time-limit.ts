/** Work that someone else's text may make endless: patterns, nested schemas. */
import { createContext, Script } from 'node:vm';

/** Node stops a script that runs too long, with all that it called. @returns undefined when `work` takes longer, or fails */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  const context = createContext({ work });
  try {
    return new Script('work()').runInContext(context, { timeout: ms }) as T;
  } catch {
    return undefined;
  }
}
