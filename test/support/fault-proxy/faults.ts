/** Keeps the faults that a test plans, and decides which request or event meets them. */

export interface SeenRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly watch: boolean;
}

export interface FaultMatch {
  readonly method?: string;
  readonly path?: string | RegExp;
  /** True matches only watches, false none. */
  readonly watch?: boolean;
}

export type FaultKind =
  /** The connection is closed before the request is handled. */
  | { readonly kind: 'drop' }
  /** The connection is reset (RST) before the request is handled; a running watch loses its connection. */
  | { readonly kind: 'reset' }
  /** The request is not handled until then; a running watch sends the event later. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown> }
  /** The request is handled, half of the answer is sent, then the connection is reset; a running watch sends half an event. */
  | { readonly kind: 'half-write' }
  /** The request is answered with an error instead of being handled. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** A running watch sends an ERROR event, then ends. */
  | { readonly kind: 'error-event'; readonly code: number; readonly reason: string; readonly message?: string }
  /** A running watch sends an event twice. */
  | { readonly kind: 'duplicate' }
  /** A running watch sends an event after the one that follows it. */
  | { readonly kind: 'reorder' };

export type Fault = FaultKind & {
  readonly match?: FaultMatch;
  /** Number of times; default 1. */
  readonly times?: number;
  /** Meets a watch's next event instead of its request. Default false; the kinds that only watches have always do. */
  readonly onEvent?: boolean;
};

export class Faults {
  #planned: { readonly fault: Fault; left: number }[] = [];

  /** The next `times` requests (or events) that match meet this fault. Faults are used up in the order they were planned. */
  next(fault: Fault): void {
    this.#planned.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#planned = [];
  }

  /** Number of faults that are planned and not met yet. */
  get left(): number {
    return this.#planned.reduce((sum, planned) => sum + planned.left, 0);
  }

  takeForRequest(request: SeenRequest): Fault | undefined {
    return this.#take(request, (fault) => !isOnEvent(fault));
  }

  takeForEvent(request: SeenRequest): Fault | undefined {
    return this.#take(request, isOnEvent);
  }

  #take(request: SeenRequest, stage: (fault: Fault) => boolean): Fault | undefined {
    const planned = this.#planned.find(({ fault }) => stage(fault) && matches(fault.match ?? {}, request));
    if (planned === undefined) return undefined;
    planned.left--;
    if (planned.left <= 0) this.#planned = this.#planned.filter((each) => each !== planned);
    return planned.fault;
  }
}

function isOnEvent(fault: Fault): boolean {
  return fault.onEvent === true || fault.kind === 'error-event' || fault.kind === 'duplicate' || fault.kind === 'reorder';
}

function matches(match: FaultMatch, request: SeenRequest): boolean {
  if (match.method !== undefined && match.method !== request.method) return false;
  if (match.watch !== undefined && match.watch !== request.watch) return false;
  if (typeof match.path === 'string') return request.path === match.path;
  return match.path === undefined || match.path.test(request.path);
}
