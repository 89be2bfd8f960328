import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

/** The log is rotated at this size; one older file is kept, so a component takes at most twice as much. */
const ROTATE_AT_BYTES = 20 * 1024 * 1024;

/** The log file of one component: it is kept over restarts, bounded, and written by the supervisor alone. */
export class ComponentLog {
  readonly file: string;
  readonly #rotateAt: number;
  #descriptor: number | undefined;
  #size = 0;

  constructor(file: string, rotateAt: number = ROTATE_AT_BYTES) {
    this.file = file;
    this.#rotateAt = rotateAt;
  }

  /** Appends the component's output synchronously, so that nothing is lost when the supervisor itself dies. */
  write(chunk: Buffer): void {
    if (this.#descriptor !== undefined && this.#size >= this.#rotateAt) {
      this.close();
      renameSync(this.file, `${this.file}.1`);
    }
    if (this.#descriptor === undefined) {
      this.#descriptor = openSync(this.file, 'a', 0o600);
      this.#size = fstatSync(this.#descriptor).size;
    }
    this.#size += writeSync(this.#descriptor, chunk);
  }

  /** Writes a line of the supervisor's own. */
  note(text: string): void {
    this.write(Buffer.from(`--- ${new Date().toISOString()} ${text}\n`));
  }

  /** Returns the last lines, at most `count`. */
  tail(count = 12): readonly string[] {
    try {
      return readFileSync(this.file, 'utf8').trimEnd().split('\n').slice(-count);
    } catch {
      return [];
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
