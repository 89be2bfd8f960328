/** Computes how much the platform itself takes of the time between a question and its answer. */

/** Start and end in milliseconds since the epoch, with fractions. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Times of a question and its answer, as the caller hears them. */
export interface AnsweredTurn {
  /** Time of the question's last sound. */
  readonly asked: number;
  /** Time of the answer's first sound. */
  readonly answered: number;
}

export interface Accounted {
  /** Time for which the agent waits for more after the end of speech, in milliseconds: a setting of the agent. */
  readonly waitMs: number;
  /** Intervals in which a provider worked for this caller. */
  readonly busy: readonly Interval[];
}

/** Returns the time from voice to voice, in milliseconds. */
export function voiceToVoice({ asked, answered }: AnsweredTurn): number {
  return answered - asked;
}

/** Returns the part of voice-to-voice without the wait for the end of speech and without providers at work, in milliseconds. */
export function addedLatency({ asked, answered }: AnsweredTurn, { waitMs, busy }: Accounted): number {
  const accounted = [{ from: asked, to: asked + waitMs }, ...busy]
    .map(({ from, to }) => ({ from: Math.max(from, asked), to: Math.min(to, answered) }))
    .filter(({ from, to }) => to > from)
    .sort((left, right) => left.from - right.from);
  let free = answered - asked;
  let reached = asked;
  for (const { from, to } of accounted) {
    if (to <= reached) continue;
    free -= to - Math.max(from, reached);
    reached = to;
  }
  return free;
}
