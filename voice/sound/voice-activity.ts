/** Derives from the probabilities of speech in windows of sound when somebody speaks, for how long, and when they pause. Pure. */

/** Length of one window of the model, in milliseconds. */
export const WINDOW_MS = 32;

/** Probabilities with which a silent user begins to speak, and a speaking one goes on. As in Silero's own detector. */
const [BEGINS, GOES_ON] = [0.5, 0.35];
/** Silence after which words are asked for, in milliseconds: closed lips are quiet for less. */
const HUSH_MS = 4 * WINDOW_MS;

/** Settings in milliseconds. */
export interface VoiceActivitySettings {
  /** Shortest sound that counts. */
  readonly shortestMs: number;
  /** Length from which on sound is reported as long. */
  readonly longMs: number;
  /** Length of the silence that ends the sound. */
  readonly pauseMs: number;
}

export interface VoiceActivity {
  readonly speaking: boolean;
  /** Time from the beginning of the sound to the end of its last window with speech, in milliseconds. */
  readonly spokenMs: number;
  /** Silence since that window, in milliseconds. */
  readonly silentMs: number;
  readonly isLong: boolean;
  readonly hushed: boolean;
}

export type VoiceChange =
  /** Somebody speaks. @property agoMs time since the sound began: it takes some windows to be sure */
  | { readonly type: 'speaks'; readonly agoMs: number }
  /** The sound is as long as the settings say, without the silence behind it. */
  | { readonly type: 'lasts' }
  /** It is so quiet that the words may be over; the sound may go on. */
  | { readonly type: 'hushes' }
  /** The sound goes on after that. */
  | { readonly type: 'goesOn' }
  /** The sound has ended. @property spokenMs length of the sound, without the silence behind it */
  | { readonly type: 'pauses'; readonly spokenMs: number };

export const SILENT: VoiceActivity = { speaking: false, spokenMs: 0, silentMs: 0, isLong: false, hushed: false };

/** Hears the next window. @param probability that somebody speaks in it, 0 to 1 */
export function hearWindow(
  before: VoiceActivity,
  probability: number,
  settings: VoiceActivitySettings,
): { readonly now: VoiceActivity; readonly changes: readonly VoiceChange[] } {
  const speech = probability >= (before.speaking ? GOES_ON : BEGINS);
  if (!before.speaking) return speech ? begin(before, settings) : { now: SILENT, changes: [] };
  return speech ? goOn(before, settings) : hush(before, settings);
}

function begin(before: VoiceActivity, { shortestMs, longMs }: VoiceActivitySettings): ReturnType<typeof hearWindow> {
  const spokenMs = before.spokenMs + WINDOW_MS;
  if (spokenMs < shortestMs) return { now: { ...SILENT, spokenMs }, changes: [] };
  const isLong = spokenMs >= longMs;
  return {
    now: { ...SILENT, speaking: true, spokenMs, isLong },
    changes: [{ type: 'speaks', agoMs: spokenMs }, ...(isLong ? [{ type: 'lasts' } as const] : [])],
  };
}

function goOn(before: VoiceActivity, { longMs }: VoiceActivitySettings): ReturnType<typeof hearWindow> {
  const spokenMs = before.spokenMs + before.silentMs + WINDOW_MS;
  const isLong = spokenMs >= longMs;
  return {
    now: { speaking: true, spokenMs, silentMs: 0, isLong, hushed: false },
    changes: [...(before.hushed ? [{ type: 'goesOn' } as const] : []), ...(isLong && !before.isLong ? [{ type: 'lasts' } as const] : [])],
  };
}

function hush(before: VoiceActivity, { pauseMs }: VoiceActivitySettings): ReturnType<typeof hearWindow> {
  const silentMs = before.silentMs + WINDOW_MS;
  const { spokenMs } = before;
  const hushed = before.hushed || silentMs >= Math.min(HUSH_MS, pauseMs);
  const hushes = hushed && !before.hushed ? [{ type: 'hushes' } as const] : [];
  if (silentMs >= pauseMs) return { now: SILENT, changes: [...hushes, { type: 'pauses', spokenMs }] };
  return { now: { ...before, silentMs, hushed }, changes: hushes };
}

/** Ends the sound where no more comes. */
export function hearNothing({ speaking, spokenMs, hushed }: VoiceActivity): ReturnType<typeof hearWindow> {
  if (!speaking) return { now: SILENT, changes: [] };
  return { now: SILENT, changes: [...(hushed ? [] : [{ type: 'hushes' } as const]), { type: 'pauses', spokenMs }] };
}
