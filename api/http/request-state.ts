import type { FastifyRequest } from 'fastify';

import type { Clock } from '../../platform/clock.ts';
import type { Caller } from './caller.ts';
import { ApiError } from './api-error.ts';

/** What is known of a request beside Fastify's own: for the answer's headers and the one log line at its end. */
export class RequestState {
  readonly traceId: string;
  readonly startedAt: number;
  caller: Caller | undefined;
  /** What went wrong, for the log: never for the client. */
  failure: unknown;
  readonly #clock: Clock;
  readonly #phases = new Map<string, number>();

  constructor(options: { readonly traceId: string; readonly clock: Clock }) {
    this.traceId = options.traceId;
    this.#clock = options.clock;
    this.startedAt = options.clock.monotonic();
  }

  /** Runs `work` and adds its time to the phase `name`. */
  async timed<T>(name: string, work: () => Promise<T>): Promise<T> {
    const from = this.#clock.monotonic();
    try {
      return await work();
    } finally {
      this.#phases.set(name, (this.#phases.get(name) ?? 0) + this.#clock.monotonic() - from);
    }
  }

  /** Milliseconds since the request began. */
  get elapsedMs(): number {
    return this.#clock.monotonic() - this.startedAt;
  }

  /** Milliseconds by phase. */
  get phases(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#phases].map(([name, ms]) => [name, Math.round(ms * 100) / 100]));
  }
}

const states = new WeakMap<object, RequestState>();

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
