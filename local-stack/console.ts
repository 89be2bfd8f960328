/** Where a start tells how it goes: lines that stay, and one line that is overwritten while something takes long. */
export interface Console {
  line(text: string): void;
  /** What is going on under `key` right now; undefined when it is over. */
  status(key: string, text: string | undefined): void;
  close(): void;
}

/** Without a terminal a status is a line of its own, and this often at most. */
const plainIntervalMs = 10_000;
const redrawMs = 100;

/** For a person at a terminal, or for a log. */
export function streamConsole(stream: NodeJS.WriteStream, now: () => number = () => performance.now()): Console {
  return stream.isTTY ? new TerminalConsole(stream, now) : new PlainConsole(stream, now);
}

class TerminalConsole implements Console {
  readonly #stream: NodeJS.WriteStream;
  readonly #now: () => number;
  readonly #statuses = new Map<string, string>();
  #drawnAt = -Infinity;
  #drawn = false;

  constructor(stream: NodeJS.WriteStream, now: () => number) {
    this.#stream = stream;
    this.#now = now;
  }

  line(text: string): void {
    this.#erase();
    this.#stream.write(`${text}\n`);
    this.#draw();
  }

  status(key: string, text: string | undefined): void {
    if (text === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, text);
    if (this.#now() - this.#drawnAt < redrawMs && this.#statuses.size > 0) return;
    this.#erase();
    this.#draw();
  }

  close(): void {
    this.#statuses.clear();
    this.#erase();
  }

  #erase(): void {
    if (this.#drawn) this.#stream.write('\r\u001B[2K');
    this.#drawn = false;
  }

  #draw(): void {
    const text = [...this.#statuses.values()].join('  ·  ');
    if (text === '') return;
    const width = Math.max(20, (this.#stream.columns || 80) - 1);
    this.#stream.write(text.length > width ? `${text.slice(0, width - 1)}…` : text);
    this.#drawn = true;
    this.#drawnAt = this.#now();
  }
}

class PlainConsole implements Console {
  readonly #stream: NodeJS.WriteStream;
  readonly #now: () => number;
  readonly #writtenAt = new Map<string, number>();

  constructor(stream: NodeJS.WriteStream, now: () => number) {
    this.#stream = stream;
    this.#now = now;
  }

  line(text: string): void {
    this.#stream.write(`${text}\n`);
  }

  status(key: string, text: string | undefined): void {
    if (text === undefined) {
      this.#writtenAt.delete(key);
      return;
    }
    const last = this.#writtenAt.get(key);
    // What is over within the first interval is not worth a line.
    if (last === undefined) this.#writtenAt.set(key, this.#now());
    if (last === undefined || this.#now() - last < plainIntervalMs) return;
    this.#writtenAt.set(key, this.#now());
    this.line(text);
  }

  close(): void {
    this.#writtenAt.clear();
  }
}
