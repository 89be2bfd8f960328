/** Who speaks since when: from what is detected, which is always a little late. All times in milliseconds since the epoch. */

export interface Detection {
  /** Speech is reported after this time, in milliseconds. */
  readonly minSpeechDuration: number;
  /** Its end is reported after this time, in milliseconds. */
  readonly minSilenceDuration: number;
}

export class SpeechClock {
  readonly #detection: Detection;
  #userFrom: number | undefined;
  #userTo: number | undefined;
  #spokenMs: number | undefined;
  #agentFrom: number | undefined;

  constructor(detection: Detection) {
    this.#detection = detection;
  }

  userBegins(now: number): void {
    this.#userFrom = now - this.#detection.minSpeechDuration;
    this.#userTo = undefined;
  }

  userEnds(now: number): void {
    if (this.#userFrom !== undefined) this.#userTo ??= Math.max(this.#userFrom, now - this.#detection.minSilenceDuration);
  }

  /** What was said is over, and was so long: a busy machine looks at it late, and at its end later than at its beginning. */
  userSpoke(ms: number): void {
    this.#spokenMs = ms;
  }

  agentSpeaks(speaks: boolean, now: number): void {
    if (!speaks) this.#agentFrom = undefined;
    else this.#agentFrom ??= now;
  }

  /** How long ago the user stopped speaking; 0 for one who speaks or never spoke. */
  silentForMs(now: number): number {
    return this.#userTo === undefined ? 0 : Math.max(0, now - this.#userTo);
  }

  /** How long the user's last speech was. @returns undefined where it didn't begin while the agent speaks, or nobody is spoken over */
  spokenOverAgentMs(now: number): number | undefined {
    if (this.#agentFrom === undefined || this.#userFrom === undefined || this.#userFrom < this.#agentFrom) return undefined;
    return this.#spokenMs ?? Math.max(0, (this.#userTo ?? now) - this.#userFrom);
  }
}
