/** What is opened by the first one who uses it: often because its code is large, and most processes need none of it at their start. */
export interface Lazily<T> {
  /** Opens it, if nobody has. One that could not be opened is tried again by the next one who asks: a failure is not remembered. */
  get(): Promise<T>;
  /** Closes it, if it is open. One that could not be opened has nothing to close, and is nobody's failure any more. */
  close(close: (opened: T) => unknown): Promise<void>;
}

export function lazily<T extends object>(open: () => Promise<T>): Lazily<T> {
  let opening: Promise<T> | undefined;
  return {
    get() {
      return (opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      }));
    },
    async close(close) {
      const opened = await opening?.catch(() => undefined);
      if (opened !== undefined) await close(opened);
    },
  };
}
