/** How a call to an address that a user chose can fail. Kinds are kept in attempts and in metrics: never renamed. */

export type EgressErrorKind =
  /** Not an http(s) address, with credentials in it, a port that isn't allowed… */
  | 'forbidden_url'
  /** It is, or its name resolves to, an address that may not be called. Nothing was sent. */
  | 'forbidden_address'
  /** A header that is not the caller's to set, or that can't be written. Nothing was sent. */
  | 'forbidden_header'
  /** The name has no address, or those who should know it don't answer. */
  | 'dns'
  /** Our own DNS servers can't be asked: no fault of the host. */
  | 'dns_unavailable'
  | 'connect'
  | 'tls'
  | 'timeout'
  /** The connection ended before the response did. */
  | 'reset'
  /** The body is longer than the caller takes, as sent or once inflated. */
  | 'too_large'
  /** More redirects than allowed, or one that leads nowhere. */
  | 'redirect'
  /** The answer is not HTTP, or encoded in a way that can't be read. */
  | 'protocol'
  /** This machine is out of sockets, ports or memory for them: no fault of the host. */
  | 'local'
  /** The guard was closed, as at a shutdown. */
  | 'closed';

/** How far a call had come. */
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

  /** The failure lies with this installation, not with the host: it says nothing about the host. */
  get ours(): boolean {
    return this.kind === 'dns_unavailable' || this.kind === 'local' || this.kind === 'closed';
  }
}

const outOfResources = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);
const resets = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** Puts what a socket or the HTTP client threw into the vocabulary of {@link EgressError}. */
export function egressErrorOf(error: unknown, phase: EgressPhase, host: string): EgressError {
  if (error instanceof EgressError) return error;
  const code = codeOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  const failure = (kind: EgressErrorKind, message: string): EgressError => new EgressError({ kind, phase, host, message, cause: error });
  if (code !== undefined && outOfResources.has(code)) {
    return failure('local', `this machine can open no further connection (${code}): raise its limits or lower the load`);
  }
  // It stood, and was gone by the time it was looked at.
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

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors.at(-1));
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
