/** Who has been speaking since when, corrected for the delay of detection. All times in milliseconds since the epoch. */

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
  #pauses = false;
  #agentFrom: number | undefined;
  #overAgent = false;

  constructor(detection: Detection) {
    this.#detection = detection;
  }

  userBegins(now: number): void {
    this.#userFrom = now - this.#detection.minSpeechDuration;
    this.#userTo = undefined;
    this.#overAgent = this.#agentFrom !== undefined;
  }

  /** Whether the agent was speaking when the user began; it may be silent by now. */
  get beganOverAgent(): boolean {
    return this.#overAgent;
  }

  userEnds(now: number): void {
    if (this.#userFrom !== undefined) this.#userTo ??= Math.max(this.#userFrom, now - this.#detection.minSilenceDuration);
  }

  /** When the user began to speak last; undefined where they never did. */
  get userFrom(): number | undefined {
    return this.#userFrom;
  }

  /** @param spokenMs length of the speech so far, by its samples: on a busy machine the events come late */
  userPauses(spokenMs: number): void {
    this.#spokenMs = spokenMs;
    this.#pauses = true;
  }

  /** Again, or for the first time. What was said before may not have been understood yet. */
  userSpeaks(): void {
    this.#pauses = false;
  }

  agentSpeaks(speaks: boolean, now: number): void {
    if (!speaks) this.#agentFrom = undefined;
    else this.#agentFrom ??= now;
  }

  /** How long ago the user stopped speaking; 0 for one who speaks or never spoke. */
  silentForMs(now: number): number {
    return this.#userTo === undefined ? 0 : Math.max(0, now - this.#userTo);
  }

  /** Length of the user's last speech; undefined where it did not begin while the agent was speaking. */
  spokenOverAgentMs(now: number): number | undefined {
    if (this.#agentFrom === undefined || this.#userFrom === undefined || this.#userFrom < this.#agentFrom) return undefined;
    const sinceFrom = Math.max(0, (this.#userTo ?? now) - this.#userFrom);
    if (this.#spokenMs === undefined) return sinceFrom;
    return this.#pauses ? this.#spokenMs : Math.max(this.#spokenMs, sinceFrom);
  }
}
