/** Lines of LiveKit's agent library in the form of ours: its own have numbers for levels, and some hold what the user said. */
import { getJobContext } from '@livekit/agents';

import { createLogger } from '../../platform/logging.ts';

/** Where the library keeps its logger. */
const LOGGER = Symbol.for('@livekit/agents:logger');
/** It comes with each answer, and nothing is wrong. */
const HARMLESS = 'rotateSegment called while previous segment is still being rotated';
/** The agent's state changes while it leaves the room, at the end of many calls. */
const HARMLESS_AT_THE_END = 'Failed to update agent state attributes';

export interface LibraryLogOptions {
  /** Of the role; the library's own begin with warnings. */
  readonly level: string;
  /** Each message once a call: some come with every frame. */
  readonly once?: boolean;
}

/** From now on, in this process. Lines of a call have its `jobId`. */
export function logLibrary({ level, once = false }: LibraryLogOptions): void {
  const writtenIn = new WeakMap<object, Set<string>>();
  const logger = createLogger({
    role: 'voice',
    level: ['error', 'fatal', 'silent'].includes(level) ? level : 'warn',
    hooks: {
      logMethod([first, ...rest], method) {
        const [fields, message] = typeof first === 'string' ? [{}, first] : [first as object, String(rest[0])];
        const job = getJobContext(false);
        if (message === HARMLESS || (message === HARMLESS_AT_THE_END && job?.room.isConnected === false)) return;
        if (job !== undefined && once) {
          const written = writtenIn.get(job) ?? new Set();
          if (written.has(message)) return;
          writtenIn.set(job, written.add(message));
        }
        method.call(this, { ...withoutSpeech(fields), ...(job && { jobId: job.job.id }) }, message);
      },
    },
  });
  (globalThis as { [LOGGER]?: unknown })[LOGGER] = logger.child({ library: '@livekit/agents' });
}

/** Without what was said; an error where our lines have theirs. */
function withoutSpeech(line: object): object {
  if (line instanceof Error) return { err: line };
  const kept = Object.entries(line).filter(([key]) => !key.startsWith('lk.pii.'));
  return Object.fromEntries(kept.map(([key, value]) => [key === 'error' ? 'err' : key, value]));
}
