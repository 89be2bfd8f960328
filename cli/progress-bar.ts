/** A bar at the bottom of a terminal while a command works through a number of things. Draws nothing where there is no terminal. */
import type { Io } from './kubectl/io.ts';

const BAR_WIDTH = 24;
/** Start of the line again, and nothing on it: what `printable.ts` lets through. */
const CLEAR = '\r\u001B[2K';
/** Between two drawings, in milliseconds. */
const DRAW_EVERY_MS = 100;

export class ProgressBar {
  readonly #io: Pick<Io, 'err' | 'now'>;
  readonly #isShown: boolean;
  #text = '';
  #drawnAt = 0;

  constructor(io: Pick<Io, 'err' | 'now'>, isWanted: boolean) {
    this.#io = io;
    this.#isShown = isWanted && io.err.isTTY === true;
  }

  /** @param more what else is to be said: `2 failed` */
  show(done: number, total: number, more: string): void {
    this.#text = barText(done, total, more).slice(0, (this.#io.err.columns ?? 80) - 1);
    if (this.#io.now() - this.#drawnAt >= DRAW_EVERY_MS || done === total) this.#draw();
  }

  /** Runs `write`, which prints whole lines, above the bar. */
  above(write: () => void): void {
    this.clear();
    write();
    if (this.#text !== '') this.#draw();
  }

  clear(): void {
    if (this.#isShown) this.#io.err.write(CLEAR);
  }

  #draw(): void {
    if (!this.#isShown) return;
    this.#drawnAt = this.#io.now();
    this.#io.err.write(`${CLEAR}${this.#text}`);
  }
}

/** `[############------------] 12 of 24, 1 failed` */
export function barText(done: number, total: number, more: string): string {
  const filled = total === 0 ? BAR_WIDTH : Math.floor((done / total) * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${done} of ${total}${more === '' ? '' : `, ${more}`}`;
}
