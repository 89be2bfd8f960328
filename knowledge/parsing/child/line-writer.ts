import { writeSync } from 'node:fs';

import type { ChildMessage } from '../messages.ts';

/** Bytes, and milliseconds, after which collected lines are sent. */
const SEND_BYTES = 64_000;
const SEND_MS = 100;

/** Collects lines and writes them together; waits for the parent to read: that is the back pressure. */
export class LineWriter {
  readonly #fd: number;
  #lines: string[] = [];
  #characters = 0;
  #sentAt = performance.now();

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(message: ChildMessage): void {
    const line = `${JSON.stringify(message)}\n`;
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= SEND_BYTES || performance.now() - this.#sentAt >= SEND_MS) this.flush();
  }

  flush(): void {
    const bytes = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#characters = 0;
    for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    this.#sentAt = performance.now();
  }
}
