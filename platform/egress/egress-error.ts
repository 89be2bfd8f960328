import { errorCodeOf, errorMessageOf } from '../caught.ts';
/** Failures of requests to addresses that users chose. Kinds are stored in attempts and metrics: never rename one. */

export type EgressErrorKind =
  /** The URL isn't http(s), has credentials in it or a port that isn't allowed… */
  | 'forbidden_url'
  /** The address, or one that its name resolves to, is forbidden. Nothing was sent. */
  | 'forbidden_address'
  /** Callers may not set the header, or it cannot be encoded. Nothing was sent. */
  | 'forbidden_header'
  /** The name has no address, or its own DNS servers do not answer. */
  | 'dns'
  /** The configured DNS servers do not answer: no fault of the host. */
  | 'dns_unavailable'
  | 'connect'
  | 'tls'
  | 'timeout'
  /** The connection ended before the response did. */
  | 'reset'
  /** The body exceeds the caller's limit, as sent or once inflated. */
  | 'too_large'
  /** There are more redirects than allowed, or one without a valid address. */
  | 'redirect'
  /** The answer is not HTTP, or encoded in a way that can't be read. */
  | 'protocol'
  /** This machine is out of sockets, ports or memory for them: no fault of the host. */
  | 'local'
  | 'closed';

export type EgressPhase = 'check' | 'dns' | 'connect' | 'tls' | 'head' | 'body';

export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly kind: EgressErrorKind;
  readonly phase: EgressPhase;
  /** Host and port as the address has them, where it could be read. */
  readonly host: string;

  /** @param options.message names the host and what to do; safe to show to the user: no address that the user didn't write */
  constructor(options: {
    readonly kind: EgressErrorKind;
    readonly phase: EgressPhase;
    readonly host: string;
    readonly message: string;
    readonly cause?: unknown;
  }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = options.kind;
    this.phase = options.phase;
    this.host = options.host;
  }

  /** True if the failure is this installation's, not the host's. */
  get ours(): boolean {
    return this.kind === 'dns_unavailable' || this.kind === 'local' || this.kind === 'closed';
  }
}

const outOfResources = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);
const resets = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** Maps an error of a socket or of the HTTP client to an {@link EgressError}. */
export function egressErrorOf(error: unknown, phase: EgressPhase, host: string): EgressError {
  if (error instanceof EgressError) return error;
  const code = errorCodeOf(error);
  const detail = errorMessageOf(error);
  const failure = (kind: EgressErrorKind, message: string): EgressError => new EgressError({ kind, phase, host, message, cause: error });
  if (code !== undefined && outOfResources.has(code)) {
    return failure('local', `this machine can open no further connection (${code}): raise its limits or lower the load`);
  }
  // The peer established the connection and closed it at once.
  if (phase === 'connect' && code === 'ECONNRESET')
    return failure('reset', `${host} closed the connection at once; see the server's own log`);
  if (phase === 'connect') return failure('connect', `no connection to ${host} (${code ?? detail}): is a server listening there?`);
  if (phase === 'tls') {
    return failure(
      'tls',
      `the TLS handshake with ${host} failed: ${detail}${code === undefined ? '' : ` (${code})`}; check its certificate`,
    );
  }
  if (code !== undefined && resets.has(code)) {
    return failure('reset', `${host} closed the connection before its answer was complete; see the server's own log`);
  }
  if (code === 'UND_ERR_INVALID_ARG') return failure('forbidden_header', `the request to ${host} can't be written: ${detail}`);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return failure('protocol', `${host} sent more headers than are read: 16 KiB`);
  return failure('protocol', `${host} sent something that is not HTTP/1.1: ${detail}${code === undefined ? '' : ` (${code})`}`);
}
