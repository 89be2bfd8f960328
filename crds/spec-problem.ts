export interface SpecProblem {
  /** As the API server writes paths: `spec.dynamicData[0].body`. */
  readonly path: string;
  /** What is wrong and what is allowed; never holds a value that might be secret. */
  readonly message: string;
}
