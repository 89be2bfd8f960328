import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

import type { FastifyRequest } from 'fastify';

import type { Clock } from '../../platform/clock.ts';
import { inSpan, type Span } from '../../platform/telemetry/tracing.ts';
import { uuidv7 } from '../../platform/uuid.ts';
import type { AnsweredField } from '../validation/unknown-fields.ts';
import type { RateLimitDecision } from '../limits/rate-limiter.ts';
import type { Caller } from './caller.ts';
import { ApiError } from './api-error.ts';

/** What is known of a request in addition to Fastify's own: for the answer's headers and the one log line at its end. */
export class RequestState {
  readonly traceId: string;
  readonly span: Span | undefined;
  readonly startedAt: number;
  caller: Caller | undefined;
  /** What went wrong, for the log: never for the client. */
  failure: unknown;
  /** The code of the failure that was answered. */
  error: string | undefined;
  /** The limit that turned the request away. */
  limitedBy: string | undefined;
  /** The MCP tool in whose course the request is made. */
  tool: string | undefined;
  /**
   * Counts the request against the limits of its caller: where the route does that later than others (`countsLater`), or once more for what is as
   * much work as several. Set where the request has limits.
   * @throws ApiError `rate_limited`, unless the caller asks to `wait`
   */
  countRequest: ((over: 'refuse' | 'wait') => RateLimitDecision) | undefined;
  /** Of a request with many: what became of them. */
  entries: Readonly<Record<string, number>> | undefined;
  /** For the answer: what nothing read in the request. */
  readonly warnings: string[] = [];
  /** What the request has of answers: without effect, whatever it says. */
  readonly answered: AnsweredField[] = [];
  /** The request only asks what would be. */
  isDryRun = false;
  /** For ids of what the request makes: the same ones again where it is carried out once more (see idempotency.ts). UUIDv7, and bytes. */
  newUuid: () => string = uuidv7;
  randomBytes: (size: number) => Buffer = randomBytes;
  readonly #clock: Clock;
  readonly #phases = new Map<string, Phase>();
  readonly #abort = new AbortController();
  #ageSeconds: number | undefined;

  /** @param options - `span`: of the request, where it is traced */
  constructor(options: { readonly traceId: string; readonly span?: Span | undefined; readonly clock: Clock }) {
    this.traceId = options.traceId;
    this.span = options.span;
    this.#clock = options.clock;
    this.startedAt = options.clock.monotonic();
  }

  /** Runs `work` and adds its time to the phase `name`. What runs side by side in one phase counts once. */
  async timed<T>(name: string, work: () => Promise<T>): Promise<T> {
    const phase = this.#phase(name);
    if (phase.running++ === 0) phase.since = this.#clock.monotonic();
    try {
      return await inSpan({ name }, work);
    } finally {
      if (--phase.running === 0) phase.ms += this.#clock.monotonic() - phase.since;
    }
  }

  /** {@link timed} for what needs no waiting. */
  timedSync<T>(name: string, work: () => T): T {
    const phase = this.#phase(name);
    const since = this.#clock.monotonic();
    try {
      return work();
    } finally {
      phase.ms += this.#clock.monotonic() - since;
    }
  }

  #phase(name: string): Phase {
    const known = this.#phases.get(name);
    if (known !== undefined) return known;
    const phase: Phase = { ms: 0, running: 0, since: 0 };
    this.#phases.set(name, phase);
    return phase;
  }

  /** Aborts when the request has had its time. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** The answer rests on what was known so long ago. */
  answeredFromMemory(ageSeconds: number): void {
    this.#ageSeconds = Math.max(this.#ageSeconds ?? 0, ageSeconds);
  }

  /** Seconds, for the header `Age`; undefined for an answer that is up to date. */
  get ageSeconds(): number | undefined {
    return this.#ageSeconds;
  }

  /** Milliseconds since the epoch. */
  get now(): number {
    return this.#clock.now();
  }

  /** Milliseconds since the request began. */
  get elapsedMs(): number {
    return this.#clock.monotonic() - this.startedAt;
  }

  /** Milliseconds by phase. */
  get phases(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#phases].map(([name, { ms }]) => [name, Math.round(ms * 100) / 100]));
  }
}

interface Phase {
  ms: number;
  running: number;
  since: number;
}

const states = new WeakMap<object, RequestState>();
const current = new AsyncLocalStorage<RequestState>();

/** The request in whose course this is called; undefined in the background. */
export function currentRequest(): RequestState | undefined {
  return current.getStore();
}

/** Runs `work`, and everything that it starts, in the course of a request. */
export function inRequest<T>(state: RequestState, work: () => T): T {
  const { span } = state;
  return current.run(state, span === undefined ? work : () => span.run(work));
}

export function startRequest(request: FastifyRequest, state: RequestState): void {
  states.set(request.raw, state);
}

export function requestState(request: FastifyRequest): RequestState {
  const state = states.get(request.raw);
  if (state === undefined) throw new Error('the request was not started');
  return state;
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = requestState(request);
  if (caller === undefined) throw new ApiError('unauthorized', 'this route needs an API key');
  return caller;
}
