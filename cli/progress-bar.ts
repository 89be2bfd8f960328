/** Draws a bar, or a line, at the bottom of a terminal while a command works through a number of things; nothing without a terminal. */
import type { Io } from './kubectl/io.ts';

const BAR_WIDTH = 24;
/** Clears the line and goes back to its start; `printable.ts` lets this through. */
const CLEAR = '\r\u001B[2K';
/** Time between two drawings, in milliseconds. */
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

  /** @param more what else to say: `2 failed` */
  show(done: number, total: number, more: string): void {
    this.#set(barText(done, total, more));
    if (this.#io.now() - this.#drawnAt >= DRAW_EVERY_MS || done === total) this.#draw();
  }

  /** Shows a step whose length is unknown. */
  note(text: string): void {
    this.#set(text);
    this.#draw();
  }

  /** Reports a step that is done: a whole line, in place of the bar, with or without a terminal. */
  line(text: string): void {
    this.clear();
    this.#text = '';
    this.#io.err.write(`${text}\n`);
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

  #set(text: string): void {
    this.#text = text.slice(0, (this.#io.err.columns ?? 80) - 1);
  }

  #draw(): void {
    if (!this.#isShown) return;
    this.#drawnAt = this.#io.now();
    this.#io.err.write(`${CLEAR}${this.#text}`);
  }
}

/** Formats `[############------------] 12 of 24, 1 failed`. */
export function barText(done: number, total: number, more: string): string {
  const filled = total === 0 ? BAR_WIDTH : Math.floor((done / total) * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${done} of ${total}${more === '' ? '' : `, ${more}`}`;
}

/** Reports steps of a long command. */
export type Progress = Pick<ProgressBar, 'line' | 'note' | 'show'>;
