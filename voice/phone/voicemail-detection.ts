/**
 * Decides who has answered an outbound call: a person or a machine. Pure: no I/O, no clock, no promise. The agent says nothing until it is decided.
 *
 *   silence            at the beginning is a person: recordings start at once.
 *   a short greeting   with silence behind it is a person, whatever was said.
 *   what is longer     is classified by its words in each pause, and decided when the pause is long enough; longer where nobody can tell.
 *   the timeout        decides by the words that were classified last.
 */

/** Category of the callee. Nobody can leave a message for one who is `unavailable`; `unknown` goes on as with a person. */
export type CalleeCategory = 'human' | 'voicemail' | 'unavailable' | 'menu' | 'unknown';

export interface DetectionSettings {
  /** Longest time that detection listens, in milliseconds from the answer. */
  readonly timeoutMs: number;
}

/** Shortest silence at the beginning that means a person: people say hello and recordings start at once. All in milliseconds. */
const SILENT_CALLEE_MS = 2_500;
/** Longest greeting of a person, the pauses in it included. */
const SHORT_GREETING_MS = 2_500;
/** Silence after a short greeting, in which a person waits for an answer. */
const SHORT_GREETING_SILENCE_MS = 500;
/** Silence that is longer than recordings' pauses between their sentences. */
const SILENCE_MS = 1_500;
/** Silence after words that can't be told: they may be half of what is said. */
const UNKNOWN_SILENCE_MS = 3_000;
/** Longest wait for words that are being recognised, from the end of their sound. */
const WORDS_WITHIN_MS = 5_000;

export type DetectionEvent =
  /** The call is answered: detection begins. */
  | { readonly type: 'answered' }
  // -- the callee's sound
  /** The callee's sound has begun. @property since its start, in milliseconds since the epoch: detection is late */
  | { readonly type: 'speaks'; readonly since: number }
  /** The callee's sound has paused. @property spokenMs length of the sound, without the silence behind it */
  | { readonly type: 'pauses'; readonly spokenMs: number }
  /** Words are final. @property more true if words of the same sound are still to come */
  | { readonly type: 'understood'; readonly text: string; readonly more: boolean }
  /** The model has classified words. @property category undefined where the model can't tell */
  | { readonly type: 'classified'; readonly text: string; readonly category: CalleeCategory | undefined }
  | { readonly type: 'waited' }
  | { readonly type: 'stopped' };

export type DetectionEffect =
  /** There is one timer: it begins anew. */
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'stopWaiting' }
  /** The model is to classify all words so far. The answer to former words does not count any more. */
  | { readonly type: 'classify'; readonly text: string }
  /** The callee is known. @property delayMs time since the callee's last sound, or since the answer; 0 while the callee speaks */
  | { readonly type: 'decided'; readonly category: CalleeCategory; readonly delayMs: number };

/** State of the detection; times are milliseconds since the epoch. */
export interface DetectionState {
  readonly settings: DetectionSettings;
  readonly answeredAt: number | undefined;
  readonly speaking: boolean;
  /** Start of the present sound. */
  readonly since: number;
  /** Start of the first sound after the answer; undefined until it has paused. */
  readonly beganAt: number | undefined;
  /** End of the last sound. */
  readonly quietSince: number;
  readonly text: string;
  readonly more: boolean;
  /** Words that the model was asked about last. */
  readonly asked: string;
  readonly verdict: { readonly text: string; readonly category: CalleeCategory } | undefined;
  readonly dueAt: number | undefined;
  /** True once it is decided or stopped. */
  readonly over: boolean;
}

export interface DetectionStep {
  readonly state: DetectionState;
  readonly effects: readonly DetectionEffect[];
}

export function initial(settings: DetectionSettings): DetectionState {
  return {
    settings,
    answeredAt: undefined,
    speaking: false,
    since: 0,
    beganAt: undefined,
    quietSince: 0,
    text: '',
    more: false,
    asked: '',
    verdict: undefined,
    dueAt: undefined,
    over: false,
  };
}

/** Takes an event. @param at its time, in milliseconds since the epoch; never less than before */
export function step(before: DetectionState, event: DetectionEvent, at: number): DetectionStep {
  const state = { ...before, ...change(before, event, at) };
  const { answeredAt, dueAt } = state;
  const stopWaiting: readonly DetectionEffect[] = dueAt === undefined ? [] : [{ type: 'stopWaiting' }];
  if (state.over) return { state: { ...state, dueAt: undefined }, effects: stopWaiting };
  if (answeredAt === undefined) return { state, effects: [] };
  const { category, ...expected } = outlook({ ...state, answeredAt });
  if (expected.at <= at) {
    const delayMs = state.speaking ? 0 : at - state.quietSince;
    return { state: { ...state, dueAt: undefined, over: true }, effects: [...stopWaiting, { type: 'decided', category, delayMs }] };
  }
  const { text } = state;
  const classify: readonly DetectionEffect[] = shouldAsk(state) ? [{ type: 'classify', text }] : [];
  const wait: readonly DetectionEffect[] = expected.at === dueAt ? [] : [{ type: 'wait', ms: expected.at - at }];
  const asked = classify.length > 0 ? text : state.asked;
  return { state: { ...state, asked, dueAt: expected.at }, effects: [...classify, ...wait] };
}

function change(state: DetectionState, event: DetectionEvent, at: number): Partial<DetectionState> {
  const { answeredAt, speaking, since, beganAt, text } = state;
  switch (event.type) {
    case 'answered':
      return answeredAt === undefined ? { answeredAt: at, quietSince: at } : {};
    case 'speaks':
      return speaking ? {} : { speaking: true, since: event.since };
    case 'pauses': {
      if (!speaking) return {};
      const quietSince = Math.min(at, since + event.spokenMs);
      // Sound before the answer was the line.
      if (answeredAt === undefined || quietSince <= answeredAt) return { speaking: false };
      return { speaking: false, quietSince, beganAt: beganAt ?? Math.max(since, answeredAt) };
    }
    case 'understood': {
      if (answeredAt === undefined) return {};
      const words = event.text.trim();
      if (words === '') return { more: event.more };
      const heard = { text: text === '' ? words : `${text} ${words}`, more: event.more };
      // Sound that was too soft to be noticed has words, too.
      return beganAt === undefined && !speaking ? { ...heard, beganAt: answeredAt, quietSince: at } : heard;
    }
    case 'classified':
      return event.text === state.asked ? { verdict: { text: event.text, category: event.category ?? 'unknown' } } : {};
    case 'waited':
      return { dueAt: undefined };
    case 'stopped':
      return { over: true };
    default:
      return event satisfies never;
  }
}

interface Outlook {
  readonly at: number;
  readonly category: CalleeCategory;
}

/** Returns when it is decided, and how, if nothing more happens. */
function outlook(state: DetectionState & { readonly answeredAt: number }): Outlook {
  const { settings, answeredAt, verdict } = state;
  const timeout: Outlook = { at: answeredAt + settings.timeoutMs, category: verdict?.category ?? 'unknown' };
  const expected = afterSilence(state);
  return expected !== undefined && expected.at < timeout.at ? expected : timeout;
}

/** Returns the decision after silence; undefined where silence decides nothing. */
function afterSilence(state: DetectionState & { readonly answeredAt: number }): Outlook | undefined {
  const { answeredAt, speaking, beganAt, quietSince, text, more, verdict } = state;
  if (speaking) return undefined;
  if (beganAt === undefined) return { at: answeredAt + SILENT_CALLEE_MS, category: 'human' };
  if (!isLong(state)) return { at: quietSince + SHORT_GREETING_SILENCE_MS, category: 'human' };
  const category = verdict?.text === text ? verdict.category : undefined;
  if (text === '' || more) return { at: quietSince + WORDS_WITHIN_MS, category: category ?? 'unknown' };
  return category && { at: quietSince + (category === 'unknown' ? UNKNOWN_SILENCE_MS : SILENCE_MS), category };
}

function shouldAsk(state: DetectionState): boolean {
  return !state.speaking && state.text !== state.asked && isLong(state);
}

function isLong({ beganAt, quietSince }: DetectionState): boolean {
  return beganAt !== undefined && quietSince - beganAt > SHORT_GREETING_MS;
}
