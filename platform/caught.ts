/** Reads what `catch` caught, which has no type but is mostly an Error. */

/** Returns the error's message. Node reports a refused connection to a host with several addresses as an AggregateError without one. */
export function errorMessageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) return errorMessageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Returns the code of an error or of its cause (`ECONNREFUSED`); of an error for several attempts, that of the last. */
export function errorCodeOf(error: unknown): string | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as { readonly cause?: unknown }).cause) {
    if (at instanceof AggregateError) return errorCodeOf(at.errors.at(-1));
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
