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

/** State of a request in addition to Fastify's own: for the answer's headers and the one log line at its end. */
export class RequestState {
  readonly traceId: string;
  readonly span: Span | undefined;
  readonly startedAt: number;
  caller: Caller | undefined;
  /** The error for the log; the client never sees it. */
  failure: unknown;
  /** The code of the failure that was answered. */
  error: string | undefined;
  /** The limit that turned the request away. */
  limitedBy: string | undefined;
  /** The MCP tool that makes the request. */
  tool: string | undefined;
  /**
   * Counts the request against the limits of its caller: where the route does that later than others (`countsLater`), or once more for as
   * much work as several requests. Set where the request has limits.
   * @throws ApiError `rate_limited`, unless the caller asks to `wait`
   */
  countRequest: ((over: 'refuse' | 'wait') => RateLimitDecision) | undefined;
  /** Numbers of entries by outcome, for a request with many. */
  entries: Readonly<Record<string, number>> | undefined;
  /** Warnings for the answer: nothing reads these parts of the request. */
  readonly warnings: string[] = [];
  /** Fields of the request that only answers have; they have no effect, whatever their values. */
  readonly answered: AnsweredField[] = [];
  /** Set where the request only asks what it would change. */
  isDryRun = false;
  /** Makes ids for objects of the request: the same ones when it is carried out again (see idempotency.ts). UUIDv7, and bytes. */
  newUuid: () => string = uuidv7;
  randomBytes: (size: number) => Buffer = randomBytes;
  readonly #clock: Clock;
  readonly #phases = new Map<string, Phase>();
  readonly #abort = new AbortController();
  #ageSeconds: number | undefined;

  constructor(options: { readonly traceId: string; readonly span?: Span | undefined; readonly clock: Clock }) {
    this.traceId = options.traceId;
    this.span = options.span;
    this.#clock = options.clock;
    this.startedAt = options.clock.monotonic();
  }

  /** Runs `work` and adds its time to the phase `name`. Work side by side in one phase counts once. */
  async timed<T>(name: string, work: () => Promise<T>): Promise<T> {
    const phase = this.#phase(name);
    if (phase.running++ === 0) phase.since = this.#clock.monotonic();
    try {
      return await inSpan({ name }, work);
    } finally {
      if (--phase.running === 0) phase.ms += this.#clock.monotonic() - phase.since;
    }
  }

  /** Does the same as {@link timed} for synchronous work. */
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

  /** Aborts when the request's time is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  answeredFromMemory(ageSeconds: number): void {
    this.#ageSeconds = Math.max(this.#ageSeconds ?? 0, ageSeconds);
  }

  /** Seconds for the header `Age`; undefined for an answer that is up to date. */
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

  /** Milliseconds, by phase. */
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

/** Returns the request that the present code runs for; undefined in the background. */
export function currentRequest(): RequestState | undefined {
  return current.getStore();
}

/** Runs `work`, and everything that it starts, for a request. */
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

export function callerOf(request: FastifyRequest): Caller {
  const { caller } = requestState(request);
  if (caller === undefined) throw new ApiError('unauthorized', 'this route needs an API key');
  return caller;
}
