/** Explains a failed connection to whoever configured the provider: in the same way for HTTP and for WebSockets. */
import { errorCodeOf } from '../../platform/caught.ts';
import { EgressError } from '../../platform/egress/egress-error.ts';
import { parametersNamedIn } from './model-quirks.ts';
import { toCallFailure, type ProviderError, type ProviderErrorKind } from './provider-failure.ts';

/** Longest time until a provider answers at all, in milliseconds. */
export const HEAD_TIMEOUT_MS = 8_000;
/** Longest time without a part of an answer that has begun, in milliseconds. */
export const STALL_TIMEOUT_MS = 10_000;

export type Failures = ReturnType<typeof failuresOf>;

/** Matches what models say of too many tokens in a request: OpenAI, Azure, Groq, Mistral, vLLM, llama.cpp; Anthropic; Google; older servers. */
export const TOO_LONG =
  /context[ _](length|limit|size|window)|prompt is too long|token count.{0,40}exceed|too large for model|reduce the length/i;

/** Refusals that another attempt may not meet. */
const TRANSIENT_STATUSES = new Set([408, 409, 425, 429]);

/** @returns a message that completes `openai (speech to text) …` */
export function failureOfStatus(status: number): { readonly kind: ProviderErrorKind; readonly message: string } {
  const refused = (cure: string) => ({ kind: 'refused', message: `answers ${status}: ${cure}` }) as const;
  if (status >= 500 || TRANSIENT_STATUSES.has(status)) {
    const message = `answers ${status}: ${status === 429 ? 'its limit is reached' : 'it fails at the moment'}`;
    return { kind: 'runtime', message };
  }
  if (status === 401 || status === 403) return refused('check its key, and what that may do');
  if (status === 404) return refused('check its address, model and voice');
  if (status < 400)
    return { kind: 'refused', message: `redirects (${status}), and redirects are not followed: use the address that is meant` };
  return refused('check its model and settings');
}

export function failuresOf(endpoint: Pick<ProviderError, 'part' | 'provider'>) {
  const failure = (kind: ProviderErrorKind, message: string, more?: Parameters<typeof toCallFailure>[3]): ProviderError =>
    toCallFailure(endpoint, kind, message, more);
  return {
    /** @param said what the server says of a request to a language model */
    status(status: number, said = ''): ProviderError {
      if (TOO_LONG.test(said))
        return failure('refused', `answers ${status}: the conversation is too long for its model`, { status, tooLong: true });
      const { kind, message } = failureOfStatus(status);
      return failure(kind, message, { status, refusedParameters: parametersNamedIn(said) });
    },
    /** @param code the code with which the WebSocket ended */
    closed: (code: number) => failure('refused', `closed the connection (${code}): check its key, model and settings`),
    slow: (ms: number) => failure('unreachable', `did not answer within ${ms} ms`, { slow: true }),
    connection(error: unknown): ProviderError {
      const guard = egressErrorIn(error);
      // The guard's messages are for users; those of HTTP libraries may quote what was sent.
      if (guard !== undefined)
        return failure(FORBIDDING_KINDS.has(guard.kind) ? 'refused' : 'unreachable', `can't be called: ${guard.message}`);
      return failure('unreachable', `can't be reached (${causeCode(error)}): check its address`);
    },
    broken: (how: string, more?: { readonly slow: boolean }) =>
      failure('connection_lost', `broke off in the middle of an answer (${how})`, more),
  };
}

const FORBIDDING_KINDS: ReadonlySet<string> = new Set(['forbidden_url', 'forbidden_address', 'forbidden_header']);

function egressErrorIn(error: unknown): EgressError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof EgressError) return at;
  return undefined;
}

/** Names what went wrong without the words of a library, which may quote the request. */
export const causeCode = (error: unknown): string => errorCodeOf(error) ?? 'connection failed';
