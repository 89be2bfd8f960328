/** The faults that a test plans, and which request or event meets them. */

export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly watch: boolean;
}

export interface FaultMatch {
  readonly method?: string;
  readonly path?: string | RegExp;
  /** Only watches, or none. */
  readonly watch?: boolean;
}

export type FaultKind =
  /** The connection is closed before the request is handled. */
  | { readonly kind: 'drop' }
  /** Like drop, with a reset (RST). Of a watch that runs: its connection. */
  | { readonly kind: 'reset' }
  /** The request is not handled until then. Of a watch: an event comes later. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown> }
  /** The request is handled, half of the answer is sent, then the connection is reset. Of a watch: half an event. */
  | { readonly kind: 'half-write' }
  /** Answered with an error instead of being handled. */
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** Of a watch that runs: an ERROR event, then the end. */
  | { readonly kind: 'error-event'; readonly code: number; readonly reason: string; readonly message?: string }
  /** Of a watch that runs: an event comes twice. */
  | { readonly kind: 'duplicate' }
  /** Of a watch that runs: an event comes after the one that follows it. */
  | { readonly kind: 'reorder' };

export type Fault = FaultKind & {
  readonly match?: FaultMatch;
  /** Default: 1. */
  readonly times?: number;
  /** Of a watch: let it be accepted, and do it to its next event instead of the request. Default: false; the kinds that only watches have are always so. */
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

  /** Planned and not met yet. */
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
