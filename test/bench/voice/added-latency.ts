/** What the platform itself takes of the time between a question and its answer. */

/** In milliseconds since the epoch, with fractions. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A question and its answer, as the caller has them. */
export interface AnsweredTurn {
  /** The last sound of the question. */
  readonly asked: number;
  /** The first sound of the answer. */
  readonly answered: number;
}

export interface Accounted {
  /** How long the agent waits for more after the end of speech, in milliseconds: a setting of the agent. */
  readonly waitMs: number;
  /** When a provider worked on something for this caller. */
  readonly busy: readonly Interval[];
}

/** Voice to voice. */
export function voiceToVoice({ asked, answered }: AnsweredTurn): number {
  return answered - asked;
}

/** The part of voice-to-voice in which neither the wait for the end of speech was running nor a provider was at work, in milliseconds. */
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
