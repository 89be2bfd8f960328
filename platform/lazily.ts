/** Opens a resource at its first use, often because its code is large and most processes do not need it at their start. */
export interface Lazily<T> {
  /** Opens the resource where it is not open. A failure is not remembered: the next call tries again. */
  get(): Promise<T>;
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
