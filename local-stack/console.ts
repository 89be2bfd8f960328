/** Receives the progress of a start: lines that stay, and one line that is overwritten while something takes long. */
export interface Console {
  line(text: string): void;
  /** Shows what is going on under `key` right now; undefined when it is over. */
  status(key: string, text: string | undefined): void;
  close(): void;
}

/** Without a terminal a status is a line of its own, at most once in this many milliseconds. */
const PLAIN_INTERVAL_MS = 10_000;
const REDRAW_MS = 100;

/** Writes for a person at a terminal, or for a log. */
export function streamConsole(stream: NodeJS.WriteStream): Console {
  return stream.isTTY ? terminalConsole(stream) : plainConsole(stream);
}

function terminalConsole(stream: NodeJS.WriteStream): Console {
  const statuses = new Map<string, string>();
  let drawnAt = -Infinity;
  let drawn = false;
  const erase = (): void => {
    if (drawn) stream.write('\r\u001B[2K');
    drawn = false;
  };
  const draw = (): void => {
    const text = [...statuses.values()].join('  ·  ');
    if (text === '') return;
    const width = Math.max(20, (stream.columns || 80) - 1);
    stream.write(text.length > width ? `${text.slice(0, width - 1)}…` : text);
    drawn = true;
    drawnAt = performance.now();
  };
  return {
    line(text) {
      erase();
      stream.write(`${text}\n`);
      draw();
    },
    status(key, text) {
      if (text === undefined) statuses.delete(key);
      else statuses.set(key, text);
      if (performance.now() - drawnAt < REDRAW_MS && statuses.size > 0) return;
      erase();
      draw();
    },
    close() {
      statuses.clear();
      erase();
    },
  };
}

function plainConsole(stream: NodeJS.WriteStream): Console {
  const writtenAt = new Map<string, number>();
  const line = (text: string): void => void stream.write(`${text}\n`);
  return {
    line,
    status(key, text) {
      const last = writtenAt.get(key);
      if (text === undefined) writtenAt.delete(key);
      // Work that is over within the first interval is not worth a line.
      else if (last === undefined) writtenAt.set(key, performance.now());
      else if (performance.now() - last >= PLAIN_INTERVAL_MS) {
        writtenAt.set(key, performance.now());
        line(text);
      }
    },
    close: () => writtenAt.clear(),
  };
}

/** A message from a detached supervisor to the command that started it. */
export type ParentMessage =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'status'; readonly key: string; readonly text?: string | undefined }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly text: string; readonly cure: string | undefined };

/** Does nothing without a parent: the command that started this leaves as soon as it receives `ready`. */
export function sendToParent(message: ParentMessage): void {
  // The parent may be gone before this process knows it: without a callback the error would end the whole stack.
  if (process.connected) process.send?.(message, () => undefined);
}

/** Writes to the log of the stack and, while it listens, to the command that started it. */
export function parentConsole(): Console {
  const log = streamConsole(process.stdout);
  return {
    line(text) {
      log.line(text);
      sendToParent({ kind: 'line', text });
    },
    status(key, text) {
      log.status(key, text);
      sendToParent({ kind: 'status', key, text });
    },
    close: () => log.close(),
  };
}
