/**
 * Tracks words that have no final yet, by utterance: an utterance ends where its finals are asked for, and the user may go on before they
 * come.
 */
export class InterimWords {
  /** Number of the utterance that is being said. */
  #utterance = 0;
  /** Position of the end of the audio when the first words of each utterance came. */
  readonly #cameAt = new Map<number, number>();

  get some(): boolean {
    return this.#cameAt.size > 0;
  }

  cameBy(position: number): boolean {
    return [...this.#cameAt.values()].some((at) => at <= position);
  }

  /** Notes words that came. @param of.last the utterance whose finals were asked for last; otherwise the one that is being said */
  came(text: string, of: { readonly last: boolean; readonly position: number }): void {
    const utterance = this.#utterance - (of.last ? 1 : 0);
    if (text.trim() === '') this.#cameAt.delete(utterance);
    else if (!this.#cameAt.has(utterance)) this.#cameAt.set(utterance, of.position);
  }

  asked(): void {
    this.#utterance += 1;
  }

  /** Forgets the words of answered utterances: finals come in order. @param unanswered how often they were asked for before this answer */
  answered(unanswered: number): void {
    const answered = this.#utterance - unanswered;
    for (const utterance of this.#cameAt.keys()) if (utterance <= answered) this.#cameAt.delete(utterance);
  }
}
