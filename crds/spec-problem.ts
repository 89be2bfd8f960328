export interface SpecProblem {
  /** Path as the API server writes it: `spec.dynamicData[0].body`. */
  readonly path: string;
  /** Says what is wrong and what is allowed; never holds a value that might be secret. */
  readonly message: string;
}
