/** Notifies channels of Postgres of new work, at a bounded rate however often it comes. */
export class Hints {
  readonly #notify: (channel: string) => Promise<void>;
  /** Channels with a notification under way; true where another one is due after it. */
  readonly #underway = new Map<string, boolean>();
  readonly #work = new Set<Promise<void>>();

  /** @param notify sends the notification; may fail, and the hint is lost then */
  constructor(notify: (channel: string) => Promise<void>) {
    this.#notify = notify;
  }

  /** Returns at once. Calls during a notification of the same channel lead to one more. */
  notify(channel: string): void {
    if (this.#underway.has(channel)) {
      this.#underway.set(channel, true);
      return;
    }
    this.#underway.set(channel, false);
    const work = this.#send(channel).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Resolves when every notification has been sent. */
  async drained(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #send(channel: string): Promise<void> {
    do {
      this.#underway.set(channel, false);
      // Listeners also poll, so that a failed hint costs nothing but time.
      await this.#notify(channel).catch(() => undefined);
    } while (this.#underway.get(channel) === true);
    this.#underway.delete(channel);
  }
}
