import type { StatusCause } from '../../../kube/error.ts';

export interface RefusalOptions {
  readonly code: number;
  /** Absent for the errors that the API server answers without one. */
  readonly reason?: string;
  readonly message: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** An answer that is not a success. */
export class RefusalError extends Error {
  readonly options: RefusalOptions;

  constructor(options: RefusalOptions) {
    super(options.message);
    this.options = options;
  }

  /** As `metav1.Status`. */
  get status(): object {
    const { code, reason, message, causes, retryAfterSeconds } = this.options;
    const details = { ...(causes === undefined ? {} : { causes }), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(Object.keys(details).length === 0 ? {} : { details }),
      code,
    };
  }
}

export function notFound(what: string, name: string): RefusalError {
  return new RefusalError({ code: 404, reason: 'NotFound', message: `${what} "${name}" not found` });
}

export function stale(
  what: string,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): RefusalError {
  return new RefusalError({ code: 409, reason: 'Conflict', message: `Operation cannot be fulfilled on ${what} "${name}": ${why}` });
}

export function badRequest(message: string): RefusalError {
  return new RefusalError({ code: 400, reason: 'BadRequest', message });
}

export function invalid(what: string, name: string, causes: readonly StatusCause[]): RefusalError {
  const fields = causes.map((cause) => `${cause.field}: ${cause.message}`);
  return new RefusalError({
    code: 422,
    reason: 'Invalid',
    message: `${what} "${name}" is invalid: ${fields.length === 1 ? fields[0] : `[${fields.join(', ')}]`}`,
    causes,
  });
}
