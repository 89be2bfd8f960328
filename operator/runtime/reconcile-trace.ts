/** Tells what one reconcile did: by its span and its line in the log. */
import { traceOf } from '../../crds/trace-annotation.ts';
import { KubeError } from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { startSpan, type Span } from '../../platform/telemetry/tracing.ts';
import type { Managed } from '../status/common.ts';

/** `unsettled`: what was read may not last, and the reconcile is repeated soon. */
export type Outcome = 'unchanged' | 'changed' | 'unsettled' | 'failed';

export interface ReconcileTraceOptions {
  readonly kind: string;
  /** `namespace/name` */
  readonly key: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ReconcileTrace {
  readonly #options: ReconcileTraceOptions;
  readonly #startedAt: number;
  readonly #begin: number;
  readonly #changes: string[] = [];
  #generation = 0;
  #object: Managed | undefined;
  #span: Span | undefined;
  #requeueAfterMs: number | undefined;

  constructor(options: ReconcileTraceOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#begin = options.clock.monotonic();
  }

  /**
   * Takes the object that is reconciled. A generation that hasn't been acted upon belongs to the trace in which it was written; a later reconcile
   * starts a trace of its own, if there turns out to be something to do.
   */
  observe(object: Managed): void {
    this.#object = object;
    this.#generation = object.metadata.generation ?? 0;
    if (this.#span === undefined && this.#cause !== undefined && this.#isNew) this.#open();
  }

  /** Runs a step of the plan as a span of its own. */
  async step<T>(step: string, work: () => Promise<T>): Promise<T> {
    const parent = this.#span ?? this.#open();
    const span = parent.run(() => startSpan({ name: step }));
    try {
      return await span.run(work);
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      span.end();
    }
  }

  changed(what: string): void {
    this.#changes.push(what);
  }

  /** Runs `work` within the span, if there is one by now. */
  inSpan<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  get hasChanged(): boolean {
    return this.#changes.length > 0;
  }

  requeued(afterMs: number | undefined): void {
    this.#requeueAfterMs = afterMs;
  }

  /** Writes the line and ends the span; call it once. @returns how long the reconcile took, in milliseconds */
  end(outcome: Outcome, error?: unknown): number {
    const { key, kind, clock, logger } = this.#options;
    const durationMs = clock.monotonic() - this.#begin;
    if (outcome === 'failed') (this.#span ?? this.#open()).fail(error);
    const [namespace = '', name = ''] = key.split('/');
    const span = this.#span?.reference;
    const line = {
      kind,
      org: namespace,
      namespace,
      name,
      generation: this.#generation,
      outcome,
      changes: this.#changes,
      requeueAfterMs: this.#requeueAfterMs,
      durationMs: Math.round(durationMs * 10) / 10,
      ...(error !== undefined && failureFields(error)),
      ...(span !== undefined && { traceId: span.traceId, spanId: span.spanId }),
    };
    logger[logLevel(outcome, error)](line, 'reconcile');
    this.#span?.set({ 'parley.outcome': outcome, 'parley.changes': this.#changes.join(', ') });
    this.#span?.end();
    return durationMs;
  }

  get #cause() {
    return this.#object && traceOf(this.#object.metadata);
  }

  get #isNew(): boolean {
    return this.#object?.status?.observedGeneration !== this.#generation;
  }

  #open(): Span {
    const { key, kind } = this.#options;
    const cause = this.#cause;
    const [namespace, name] = key.split('/');
    this.#span = startSpan({
      name: `reconcile ${kind}`,
      kind: 'consumer',
      parent: cause !== undefined && this.#isNew ? cause : 'none',
      links: cause !== undefined && !this.#isNew ? [cause] : [],
      startedAt: this.#startedAt,
      attributes: {
        'parley.org': namespace,
        'k8s.namespace.name': namespace,
        'parley.kind': kind,
        'parley.name': name,
        'parley.generation': this.#generation,
      },
    });
    return this.#span;
  }
}

/** At rest nothing is logged: a reconcile that changes nothing, or that waits for something, is a line at `debug`. */
function logLevel(outcome: Outcome, error: unknown): 'debug' | 'info' | 'warn' | 'error' {
  if (outcome === 'changed') return 'info';
  if (outcome !== 'failed') return 'debug';
  if (!(error instanceof KubeError)) return 'error';
  // A stale read, an object that has gone, a namespace that is being deleted: the next reconcile settles it.
  const ordinary = error.code === 404 || error.code === 409 || error.causes.some((cause) => cause.reason === 'NamespaceTerminating');
  return ordinary ? 'debug' : 'warn';
}

function failureFields(error: unknown): object {
  return error instanceof KubeError ? { status: error.code, reason: error.reason, cause: error.message } : { err: error };
}
