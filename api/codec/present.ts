/** An unfinished spec: fields that the schema fills in or makes optional may be missing. */
export type Draft<T> = T extends readonly unknown[] ? T : T extends object ? { readonly [K in keyof T]?: Draft<T[K]> | undefined } : T;

/** Leaves out the fields that are undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
