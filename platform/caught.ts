/** Reads what `catch` caught, which has no type but is mostly an Error. */

/** Returns the error's message. Node reports a refused connection to a host with several addresses as an AggregateError without one. */
export function errorMessageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) return errorMessageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
