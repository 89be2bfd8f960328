/** An unfinished spec: fields that the schema fills in or makes optional may be missing. */
export type Draft<T> = T extends readonly unknown[] ? T : T extends object ? { readonly [K in keyof T]?: Draft<T[K]> | undefined } : T;
