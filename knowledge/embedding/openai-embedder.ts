/** Gets embeddings from any server that speaks OpenAI's `/embeddings`. */
import { type Dispatcher, fetch, type Response } from 'undici';

import { failureOfStatus } from '../model-outcome.ts';
import { backoffDelay } from '../../platform/backoff.ts';
import { errorCodeOf } from '../../platform/caught.ts';
import { type Clock, sleep, systemClock } from '../../platform/clock.ts';
import { readBytes } from '../../platform/read-bytes.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import { retry } from '../../platform/retry.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import type { ReportedUse } from '../model-use.ts';
import { MissingKeyError, profileKey } from '../profile-key.ts';
import type { Embedder, EmbeddingKind, EmbeddingProfile, EmbedOptions, OpenAiProfile } from './embedder.ts';
import { EmbeddingError, type EmbeddingErrorCode } from './embedding-error.ts';
import { inputsOf } from './passage-text.ts';
import { embeddingsOf, type Embeddings } from './response.ts';

/** Retries of requests that fail for a passing reason. */
interface RetryPolicy {
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** Longest rest in milliseconds for which a server that asks for one is waited for; beyond it, the caller decides when to try again. */
  readonly longestRestMs: number;
  /** True if another attempt follows one that took all the time there was. */
  readonly afterTimeout: boolean;
}

const RETRY_POLICIES: Readonly<Record<EmbeddingKind, RetryPolicy>> = {
  passage: { attempts: 5, firstDelayMs: 500, longestRestMs: 60_000, afterTimeout: true },
  // A caller waits for the answer to a query.
  query: { attempts: 2, firstDelayMs: 200, longestRestMs: 1_000, afterTimeout: false },
};
const LONGEST_DELAY_MS = 20_000;
/** Outcomes that are paid for: a server also computes answers that were given up. */
const PAID_OUTCOMES: ReadonlySet<EmbeddingRequest['outcome']> = new Set(['answered', 'timeout', 'cancelled']);
/** Most bytes of an answer: 64 vectors of 8,192 dimensions, written out. */
const LARGEST_ANSWER = 32 * 1024 * 1024;

export interface OpenAiEmbedderOptions {
  readonly profile: OpenAiProfile;
  /** Variables in which `apiKeyEnv` is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Dispatcher for connections and proxies; undici's own by default. */
  readonly dispatcher?: Dispatcher;
  /** Called for each request: `answered`, or the code of its failure. */
  readonly onRequest?: (request: EmbeddingRequest) => void;
}

export interface EmbeddingRequest {
  readonly kind: EmbeddingKind;
  readonly outcome: 'answered' | 'too_large' | 'cancelled' | EmbeddingErrorCode;
  readonly seconds: number;
}

interface Work extends Pick<EmbedOptions, 'signal' | 'onUse'> {
  readonly texts: readonly string[];
  readonly kind: EmbeddingKind;
}

/**
 * Sends `batchSize` texts a request and has `concurrency` requests in flight, over all calls. A request that fails for a passing reason is
 * made five times in all, and twice for a question; one that the server finds too large is made again in halves.
 */
export class OpenAiEmbedder implements Embedder {
  readonly model: string;
  readonly dimension: number;
  readonly #options: OpenAiEmbedderOptions;
  readonly #url: string;
  readonly #clock: Clock;
  readonly #permits: Semaphore;
  /** Time on the monotonic clock before which no request starts, because the server has asked for a rest. */
  #restUntil = 0;

  constructor(options: OpenAiEmbedderOptions) {
    const { profile, clock = systemClock } = options;
    this.model = profile.model;
    this.dimension = profile.dimension;
    this.#options = options;
    this.#url = `${profile.baseURL.replace(/\/+$/, '')}/embeddings`;
    this.#clock = clock;
    this.#permits = new Semaphore(profile.concurrency);
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, { signal, onUse }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const { profile } = this.#options;
    const inputs = await inputsOf(texts, kind, profile);
    const failure = new AbortController();
    const either = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
    const batches: Promise<readonly Float32Array[]>[] = [];
    for (let start = 0; start < inputs.length; start += profile.batchSize) {
      const work = { texts: inputs.slice(start, start + profile.batchSize), kind, signal: either, onUse };
      batches.push(this.#inTurn(work));
    }
    try {
      return (await Promise.all(batches)).flat();
    } catch (error) {
      // The other batches are useless now; unless they are awaited they would go on behind the caller's back.
      failure.abort(error);
      await Promise.allSettled(batches);
      throw error;
    }
  }

  /** Closes nothing: connections belong to the dispatcher. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #inTurn(work: Work): Promise<readonly Float32Array[]> {
    const release = await this.#permits.acquire(work.signal);
    try {
      return await this.#embedBatch(work);
    } finally {
      release();
    }
  }

  async #embedBatch(work: Work): Promise<readonly Float32Array[]> {
    try {
      return await retry(
        async () => {
          await this.#rest(work);
          return await this.#measured(work);
        },
        { delayMs: (error, failures) => this.#delayMs(error, failures, work.kind), clock: this.#clock, signal: work.signal },
      );
    } catch (error) {
      const { texts } = work;
      if (!(error instanceof TooLargeError)) throw error;
      if (texts.length === 1) throw refused(error.status, 'even a single text of the batch');
      const middle = Math.ceil(texts.length / 2);
      const first = await this.#embedBatch({ ...work, texts: texts.slice(0, middle) });
      return [...first, ...(await this.#embedBatch({ ...work, texts: texts.slice(middle) }))];
    }
  }

  #delayMs(error: unknown, failures: number, kind: EmbeddingKind): number | undefined {
    if (!(error instanceof EmbeddingError) || !isPassing(error)) return undefined;
    const { attempts, firstDelayMs, longestRestMs, afterTimeout } = RETRY_POLICIES[kind];
    const asked = error.retryAfterMs ?? 0;
    if (asked <= RETRY_POLICIES.passage.longestRestMs) this.#restUntil = Math.max(this.#restUntil, this.#clock.monotonic() + asked);
    if (failures === attempts || asked > longestRestMs || (error.code === 'timeout' && !afterTimeout)) return undefined;
    return Math.max(backoffDelay(failures, { baseMs: firstDelayMs, maxMs: LONGEST_DELAY_MS }), asked);
  }

  async #rest({ kind, signal }: Work): Promise<void> {
    signal?.throwIfAborted();
    const ms = this.#restUntil - this.#clock.monotonic();
    if (ms > RETRY_POLICIES[kind].longestRestMs) throw new EmbeddingError('rate_limited', `${this.#where()} has asked for a rest.`, ms);
    if (ms > 0) await sleep(this.#clock, ms, signal);
  }

  async #measured(work: Work): Promise<readonly Float32Array[]> {
    const startedAt = this.#clock.monotonic();
    const report = (outcome: EmbeddingRequest['outcome'], reported: ReportedUse = {}): void => {
      this.#options.onRequest?.({ kind: work.kind, outcome, seconds: (this.#clock.monotonic() - startedAt) / 1000 });
      if (!PAID_OUTCOMES.has(outcome)) return;
      const { provider, model } = this.#options.profile;
      work.onUse?.({ kind: 'embedding', provider, model, texts: work.texts, reported });
    };
    try {
      const { vectors, reported } = await this.#request(work);
      report('answered', reported);
      return vectors;
    } catch (error) {
      report(error instanceof EmbeddingError ? error.code : error instanceof TooLargeError ? 'too_large' : 'cancelled');
      throw error;
    }
  }

  async #request({ texts, signal }: Work): Promise<Embeddings> {
    const { profile, env, dispatcher } = this.#options;
    const key = await credentialOf(profile, env);
    const limit = new AbortController();
    const timer = this.#clock.after(profile.timeoutMs, () => limit.abort());
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        // A server that redirects requests, and with them the key, is not the one that was configured.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        // Clients of this protocol ask for Base64 by default, and servers that ignore it answer with what looks like vectors.
        body: JSON.stringify({ model: profile.model, input: texts, encoding_format: 'float' }),
        signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
        ...(dispatcher && { dispatcher }),
      });
      if (!response.ok) throw await this.#failureOf(response);
      return embeddingsOf(await readText(response), { count: texts.length, dimension: profile.dimension });
    } catch (error) {
      if (error instanceof EmbeddingError || error instanceof TooLargeError) throw error;
      signal?.throwIfAborted();
      if (limit.signal.aborted) throw new EmbeddingError('timeout', `${this.#where()} did not answer within ${profile.timeoutMs} ms.`);
      throw new EmbeddingError(
        'unavailable',
        `${this.#where()} can't be reached, or broke off its answer (${errorCodeOf(error) ?? 'connection failed'}).`,
      );
    } finally {
      timer.cancel();
    }
  }

  async #failureOf(response: Response): Promise<EmbeddingError | TooLargeError> {
    // Bodies of errors repeat texts and keys, so they must not reach a log.
    await response.body?.cancel();
    const { status } = response;
    if (status === 400 || status === 413 || status === 422) return new TooLargeError(status);
    const failure = failureOfStatus(status);
    if (failure === 'refused') return refused(status, `requests to ${new URL(this.#url).pathname}`);
    const message = {
      unauthorized: `answers ${status}: check the key of the profile and what it may do.`,
      rate_limited: 'limits requests (429).',
      unavailable: `answers ${status}.`,
    }[failure];
    const wait = retryAfterMs(response.headers.get('retry-after'), this.#clock.now());
    return new EmbeddingError(failure, `${this.#where()} ${message}`, wait);
  }

  #where(): string {
    return `The embedding server ${new URL(this.#url).host} of profile "${this.#options.profile.name}"`;
  }
}

/** The request is too large, or one of its texts is: servers don't say which. */
class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

function refused(status: number, what: string): EmbeddingError {
  return new EmbeddingError(
    'refused',
    `The embedding server refuses ${what} (status ${status}): check the profile's baseURL, model and maxTokens.`,
  );
}

/** A broken answer is often whole the next time; a wrong profile stays wrong. */
function isPassing({ code, retryable }: EmbeddingError): boolean {
  return retryable || code === 'invalid_response';
}

async function readText(response: Response): Promise<string> {
  const bytes = await readBytes(response.body ?? [], LARGEST_ANSWER);
  if (bytes === undefined)
    throw new EmbeddingError('invalid_response', `The embedding server's answer is longer than ${LARGEST_ANSWER} bytes.`);
  return bytes.toString();
}

async function credentialOf(profile: EmbeddingProfile, env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  if (profile.provider !== 'openai_compatible') return undefined;
  try {
    return await profileKey(profile, env);
  } catch (error) {
    if (!(error instanceof MissingKeyError)) throw error;
    throw new EmbeddingError('misconfigured', `Embedding profile "${profile.name}" ${error.message}.`);
  }
}
