/** Tells channels of Postgres that there is something to look for: seldom, however often there is. */
export class Hints {
  readonly #notify: (channel: string) => Promise<void>;
  /** Channels that are being told; true where there is something new again. */
  readonly #underway = new Map<string, boolean>();
  readonly #work = new Set<Promise<void>>();

  /** @param notify tells a channel; may fail, whereupon the hint is lost */
  constructor(notify: (channel: string) => Promise<void>) {
    this.#notify = notify;
  }

  /** Comes back at once. What is told while the channel is being told goes out once more, together. */
  tell(channel: string): void {
    if (this.#underway.has(channel)) {
      this.#underway.set(channel, true);
      return;
    }
    this.#underway.set(channel, false);
    const work = this.#tell(channel).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Everything is told. */
  async told(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #tell(channel: string): Promise<void> {
    do {
      this.#underway.set(channel, false);
      // Whoever listens also looks by itself now and then: a hint that fails costs time and nothing else.
      await this.#notify(channel).catch(() => undefined);
    } while (this.#underway.get(channel) === true);
    this.#underway.delete(channel);
  }
}
