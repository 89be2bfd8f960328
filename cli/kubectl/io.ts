/** Everything outside of a command that it may touch. */
export interface Io {
  readonly out: Sink;
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder in which the person stands: the local stack is looked for from here. */
  readonly folder: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Sets the exit code of the process, which is 0 otherwise. */
  readonly exit: (code: number) => void;
  /** Aborts when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
}

interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** @param signal aborts when the person presses Ctrl-C */
export function processIo(signal: AbortSignal): Io {
  const exit = (code: number): void => {
    process.exitCode = code;
  };
  return { out: process.stdout, err: process.stderr, env: process.env, folder: process.cwd(), now: Date.now, exit, signal };
}
