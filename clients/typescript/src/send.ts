/** Sends requests by a `fetch` that waits for no answer for ever, and again where that is safe. */
import { ParleyError, readRetryAfter } from './error.ts';
import { planRetry, type RetryLimits } from './retry-plan.ts';

export interface SendOptions extends RetryLimits {
  /** Limit of each attempt, until its answer is there, in milliseconds. */
  readonly timeoutMs: number;
}

export interface SendEffects {
  readonly fetch: (request: Request, init: RequestInit) => Promise<Response>;
  /** Returns a number between 0 and 1. */
  readonly random: () => number;
  /** @throws the reason with which the signal was aborted */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const realEffects: SendEffects = {
  fetch: (request, init) => globalThis.fetch(request, init),
  random: Math.random,
  wait,
};

/** @returns a `fetch` that throws {@link ParleyError} where no attempt was answered, and the abort reason of the request's own signal */
export function sender(options: SendOptions, effects: SendEffects = realEffects): (request: Request) => Promise<Response> {
  return async (original) => {
    const request = withIdempotencyKey(original);
    const repeatable = isRepeatable(request);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await attemptOnce(request.clone(), options, effects);
      const answered = 'response' in outcome;
      const planned = planRetry(
        { repeatable },
        answered ? { status: outcome.response.status, retryAfterMs: readRetryAfter(outcome.response.headers, Date.now()) } : {},
        { attempt, random: effects.random(), limits: options },
      );
      if (planned === undefined) {
        if (answered) return outcome.response;
        throw outcome.error;
      }
      if (answered) await outcome.response.body?.cancel();
      await effects.wait(planned, request.signal);
    }
  };
}

/** Gives a POST that makes something a key, so that it can be sent again. Files have none: an upload is not sent again. */
function withIdempotencyKey(request: Request): Request {
  if (request.method !== 'POST' || isUpload(request) || request.headers.has('idempotency-key')) return request;
  const headers = new Headers(request.headers);
  headers.set('idempotency-key', globalThis.crypto.randomUUID());
  return new Request(request, { headers });
}

function isUpload({ headers }: Request): boolean {
  const type = headers.get('content-type');
  return type !== null && !isJson(type);
}

const isRepeatable = (request: Request): boolean => request.method !== 'POST' || !isUpload(request);

const isJson = (type: string): boolean => /^application\/json\b/i.test(type);

async function attemptOnce(
  request: Request,
  { timeoutMs }: SendOptions,
  { fetch }: SendEffects,
): Promise<{ readonly response: Response } | { readonly error: ParleyError }> {
  const late = new AbortController();
  // A file takes as long as it takes to send; the server ends an upload that doesn't come.
  const timer = isUpload(request) ? undefined : setTimeout(() => late.abort(), timeoutMs);
  try {
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, late.signal]) });
    return { response: await received(response) };
  } catch (cause) {
    request.signal.throwIfAborted();
    return { error: late.signal.aborted ? timedOut(request, timeoutMs) : unanswered(request, cause) };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads JSON as a whole, so that an answer that is cut off is one that has not come. */
async function received(response: Response): Promise<Response> {
  if (!isJson(response.headers.get('content-type') ?? '')) return response;
  return new Response(await response.arrayBuffer(), response);
}

const asked = ({ method, url }: Request): string => `${method} ${new URL(url).pathname}`;

function timedOut(request: Request, timeoutMs: number): ParleyError {
  return new ParleyError(`${asked(request)}: no answer within ${timeoutMs} ms`, {
    code: 'timeout',
    cure: 'try again later, or raise timeoutMs',
  });
}

function unanswered(request: Request, cause: unknown): ParleyError {
  return new ParleyError(`${asked(request)}: no answer from ${new URL(request.url).origin}`, {
    code: 'no_answer',
    cure: 'check the url of the client, and that the API can be reached from here',
    cause,
  });
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
