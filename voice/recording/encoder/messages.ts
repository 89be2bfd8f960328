/** The messages between the job process and its encoder thread. `id` is of a recording. */
export type ToEncoder =
  | { readonly case: 'open'; readonly id: number; readonly file: string }
  /** Sound in 16 bit samples, left and right in turn. */
  | { readonly case: 'sound'; readonly id: number; readonly pcm: Uint8Array }
  | { readonly case: 'end'; readonly id: number };

/** Says that the file is complete, or why it never will be. */
export interface FromEncoder {
  readonly id: number;
  readonly error?: Error;
}
