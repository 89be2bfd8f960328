/** Lines of LiveKit's agent library in the form of ours: its own have numbers for levels, and some hold what the user said. */
import { createLogger } from '../../platform/logging.ts';

/** Where the library keeps its logger. */
const LOGGER = Symbol.for('@livekit/agents:logger');
/** It comes with each answer, and nothing is wrong. */
const HARMLESS = 'rotateSegment called while previous segment is still being rotated';

export interface LibraryLogOptions {
  /** Of the role; the library's own begin with warnings. */
  readonly level: string;
  /** Of each line. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Each message once: in a call some come with every frame. */
  readonly once?: boolean;
}

/** From now on, in this process. */
export function logLibrary({ level, fields = {}, once = false }: LibraryLogOptions): void {
  const written = new Set<string>();
  const logger = createLogger({
    role: 'voice',
    level: ['error', 'fatal', 'silent'].includes(level) ? level : 'warn',
    hooks: {
      logMethod([first, ...rest], method) {
        const message = String(typeof first === 'string' ? first : rest[0]);
        if (message === HARMLESS || (once && written.has(message))) return;
        written.add(message);
        method.apply(this, [typeof first === 'object' ? withoutSpeech(first as object) : first, ...rest] as Parameters<typeof method>);
      },
    },
  });
  (globalThis as { [LOGGER]?: unknown })[LOGGER] = logger.child({ library: '@livekit/agents', ...fields });
}

/** Without what was said; an error where our lines have theirs. */
function withoutSpeech(line: object): object {
  const kept = Object.entries(line).filter(([key]) => !key.startsWith('lk.pii.'));
  return Object.fromEntries(kept.map(([key, value]) => [key === 'error' ? 'err' : key, value]));
}
