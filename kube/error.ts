/** One cause of a `Status` answer, as the API server gives it. */
export interface StatusCause {
  /** e.g. `FieldManagerConflict`, `FieldValueInvalid`. */
  readonly reason: string;
  /** e.g. `.spec.displayName` (conflicts) or `spec.number` (validation). */
  readonly field: string;
  readonly message: string;
}

export interface KubeErrorOptions {
  /** HTTP status; 0 when no answer came. */
  readonly code: number;
  /** `Status.reason`, e.g. `NotFound`, `Conflict`, `Invalid`, `Expired`; `Unreachable`, `Timeout` or `Aborted` when no answer came. */
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly StatusCause[];
  /** Wait that `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The answer of something behind the API server, as through a Service's proxy; absent for the API server's own. */
  readonly body?: string;
  readonly cause?: unknown;
}

/** Everything that can go wrong in a request to the API server. */
export class KubeError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;
  readonly body: string | undefined;

  constructor(options: KubeErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = 'KubeError';
    this.code = options.code;
    this.reason = options.reason;
    this.causes = options.causes ?? [];
    this.retryAfterMs = options.retryAfterMs;
    this.body = options.body;
  }

  get notFound(): boolean {
    return this.code === 404;
  }

  /** Another field manager owns a field: `causes` names each field and, in its message, the manager. */
  get ownershipConflict(): boolean {
    return this.code === 409 && this.causes.some((cause) => cause.reason === 'FieldManagerConflict');
  }

  /** The object changed since it was read, or is another one (a stale resourceVersion or uid). */
  get staleConflict(): boolean {
    return this.code === 409 && this.reason === 'Conflict' && !this.ownershipConflict;
  }

  /** A quota of the namespace, or a policy, refuses the object: it isn't the caller that lacks a permission. */
  get refusedByAdmission(): boolean {
    return (
      this.code === 403 &&
      /(?:: (?:exceeded|failed) quota: |^admission webhook "[^"]*" denied the request|: ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request: )/.test(
        this.message,
      )
    );
  }

  /** The caller's own signal ended the request. */
  get aborted(): boolean {
    return this.code === 0 && this.reason === 'Aborted';
  }

  /** The same request may succeed later, unchanged. */
  get retryable(): boolean {
    return (
      (this.code === 0 && !this.aborted && this.reason !== 'BadKubeConfig') ||
      this.code === 429 ||
      this.code === 500 ||
      this.code === 502 ||
      this.code === 503 ||
      this.code === 504 ||
      this.staleConflict
    );
  }
}
