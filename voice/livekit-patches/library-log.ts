/** Writes the lines of LiveKit's agent library in the form of ours: its own have numbers for levels, and some hold what the user said. */
import { getJobContext } from '@livekit/agents';

import { createLogger } from '../../platform/logging.ts';

const LOGGER = Symbol.for('@livekit/agents:logger');
/** Replaces the library's logger in this process. Lines of a call have its `jobId`. @param options.level the level of the role */
export function logLibrary({ level }: { readonly level: string }): void {
  const logger = createLogger({
    role: 'voice',
    // The library's own lines begin with warnings.
    level: ['error', 'fatal', 'silent'].includes(level) ? level : 'warn',
    hooks: {
      logMethod([first, ...rest], method) {
        const [fields, message] = typeof first === 'string' ? [{}, first] : [first as object, String(rest[0])];
        const job = getJobContext(false);
        method.call(this, { ...withoutSpeech(fields), ...(job && { jobId: job.job.id }) }, message);
      },
    },
  });
  (globalThis as { [LOGGER]?: unknown })[LOGGER] = logger.child({ library: '@livekit/agents' });
}

/** Drops what was said from a line; an error goes where our lines have theirs. */
function withoutSpeech(line: object): object {
  if (line instanceof Error) return { err: line };
  const kept = Object.entries(line).filter(([key]) => !key.startsWith('lk.pii.'));
  return Object.fromEntries(kept.map(([key, value]) => [key === 'error' ? 'err' : key, value]));
}
