/** What an embedder and the process with its model say to each other. */

/** How the process is told its model. */
export interface LocalModel {
  readonly path: string;
  readonly quantized: boolean;
}

export interface LocalRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

export type LocalAnswer =
  | { readonly id: number; readonly vectors: readonly Float32Array[] }
  /** Not a message of the library, which may quote a text. */
  | { readonly id: number; readonly failure: 'library_missing' | 'model_missing' | 'failed' };
