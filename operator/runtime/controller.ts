import type { Registry } from 'prom-client';

import { wellKnown, type CommonStatus } from '../../crds/index.ts';
import {
  keyOf,
  KubeError,
  wentBack,
  WorkQueue,
  type Change,
  type EventRecorder,
  type Informer,
  type Priority,
  type ResourceClient,
  type Stored,
} from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isDeleting, type Managed } from '../status/common.ts';
import type { Adopt } from './adopter.ts';
import { findSummary } from '../../crds/kind.ts';
import { sameJson } from '../../platform/json.ts';
import { withReferenceGrace } from './reference-grace.ts';
import type { OperatorMetrics } from './metrics.ts';
import { PendingWrites } from './pending-writes.ts';
import { ReadyTimer } from './ready-timer.ts';
import { ReconcileTrace, type Outcome } from './reconcile-trace.ts';
import { type Applied, type FinalizerAction, type KeyedQueue, type ReconcileContext, type Reconciler } from './reconciler.ts';
import { UnsettledError } from './unsettled-error.ts';

/** An object to reconcile because of another one. */
export interface Trigger {
  readonly kind: string;
  readonly key: string;
}

export interface KindController {
  readonly kind: string;
  readonly informer: Pick<Informer<Managed>, 'start' | 'stop' | 'synced'>;
  /** Reconciles objects as they change; `trigger` gets those of all kinds that depend on them. */
  listen(trigger: (triggers: readonly Trigger[]) => void): void;
  enqueue(key: string): void;
  resync(): void;
  postgresIsBack(): void;
  organizationDeleted(): void;
  run(signal: AbortSignal): Promise<void>;
  shutDown(): void;
}

export interface ControllerOptions<T extends Managed, Action extends { readonly type: string }, Status extends CommonStatus> {
  readonly reconciler: Reconciler<T, Action, Status>;
  readonly informer: Informer<T>;
  readonly client: ResourceClient<T>;
  /** Returns what else to reconcile when an object of this kind changes. */
  readonly triggers: (change: Change<Stored<T>>) => readonly Trigger[];
  readonly events: Pick<EventRecorder, 'record'>;
  readonly adopt: Adopt;
  /** Whether the namespace is being deleted: only deletions are worth any work there, and nothing new may be created. */
  readonly isTerminating: (namespace: string) => boolean;
  readonly metrics: OperatorMetrics;
  readonly concurrency: number;
  /** See {@link withReferenceGrace}. */
  readonly referenceGraceMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** More rounds of planning and acting than any object needs. */
const ROUNDS_LIMIT = 6;
/** While the API server is unavailable keys come back in about this time, in milliseconds; growing delays would keep them away long after it is back. */
const OUTAGE_DELAY_MS = 1_000;

/** Runs one kind: a queue of keys, and for each key observe → plan → act → write the status if it differs. */
export class Controller<
  T extends Managed,
  Action extends { readonly type: string },
  Status extends CommonStatus,
> implements KindController {
  readonly #options: ControllerOptions<T, Action, Status>;
  readonly #name: string;
  readonly #queue: WorkQueue<string>;
  readonly #pendingWrites = new PendingWrites<T>();
  readonly #readyTimer: ReadyTimer;
  /** Keys to reconcile once Postgres is back. */
  readonly #waitingForPostgres = new Set<string>();
  #active = false;

  constructor(options: ControllerOptions<T, Action, Status>) {
    const { reconciler, informer, clock, random, registry, metrics, concurrency } = options;
    this.#options = options;
    this.#name = reconciler.kind.toLowerCase();
    this.#queue = new WorkQueue<string>({ name: this.#name, clock, random, registry });
    this.#readyTimer = new ReadyTimer(clock);
    metrics.limit.set({ controller: this.#name }, concurrency);
    metrics.active.set({ controller: this.#name }, 0);
    metrics.countObjects(reconciler.kind, () => informer.cache.list());
  }

  get kind(): string {
    return this.#options.reconciler.kind;
  }

  get informer(): Informer<T> {
    return this.#options.informer;
  }

  listen(trigger: (triggers: readonly Trigger[]) => void): void {
    this.informer.onChange((change) => {
      this.#changed(change);
      trigger(this.#options.triggers(change));
    });
  }

  /** Adds a key when something that its object depends on has changed. A standby ignores it: it starts with all keys. */
  enqueue(key: string, priority: Priority = 'user'): void {
    if (this.#active) this.#queue.add(key, { priority });
  }

  /** Reconciles everything again, as if nothing had been read before. */
  resync(): void {
    this.#options.reconciler.refresh?.();
    this.#enqueueAll('resync');
  }

  postgresIsBack(): void {
    this.#catchUp();
    const keys = [...this.#waitingForPostgres];
    this.#waitingForPostgres.clear();
    for (const key of keys) this.enqueue(key);
  }

  /** Catches up with objects that went with their organisation. */
  organizationDeleted(): void {
    this.#catchUp();
  }

  /** Works until the signal aborts; resolves when nothing is in flight any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { concurrency, reconciler } = this.#options;
    const queue: KeyedQueue = { enqueue: (key) => this.enqueue(key), enqueueAll: () => this.#enqueueAll('resync') };
    this.#active = true;
    const stopLeading = reconciler.lead?.(queue);
    reconciler.refresh?.();
    this.#enqueueAll('initial');
    try {
      await this.#queue.run({ concurrency, signal, handle: (key, handlerSignal) => this.#handle(key, handlerSignal) });
    } finally {
      this.#active = false;
      await stopLeading?.();
    }
  }

  /** Takes no more keys, for good. */
  shutDown(): void {
    this.#queue.shutDown();
  }

  /** Does nothing on a standby, whose cache may not be complete: what is missing there would be taken for gone. */
  #catchUp(): void {
    if (this.#active) this.#options.reconciler.catchUp?.();
  }

  #enqueueAll(priority: Priority): void {
    for (const object of this.informer.cache.list()) this.enqueue(keyOf(object), priority);
  }

  #changed(change: Change<Stored<T>>): void {
    const key = keyOf(change.object);
    if (change.type === 'deleted') {
      this.#pendingWrites.forget(key);
      this.#readyTimer.forget(key);
      this.#options.reconciler.deleted?.(change.object);
      this.enqueue(key);
      return;
    }
    if (wentBack(change)) this.#pendingWrites.forget(key);
    if (this.#pendingWrites.isEcho(change.object)) return;
    this.#readyTimer.saw(key, change.object);
    this.enqueue(key, change.initial ? 'initial' : 'user');
  }

  async #handle(key: string, signal: AbortSignal): Promise<void> {
    const { metrics, clock, random, logger, events } = this.#options;
    const controller = this.#name;
    const trace = new ReconcileTrace({ kind: this.kind, key, clock, logger });
    const end = (outcome: Outcome, error?: unknown): void => {
      metrics.active.dec({ controller });
      metrics.duration.observe({ controller }, trace.end(outcome, error) / 1000);
    };
    metrics.active.inc({ controller });
    try {
      const requeueAfterMs = await this.#reconcile(key, trace, signal);
      if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
      trace.requeued(requeueAfterMs);
      metrics.reconciles.inc({ controller, result: requeueAfterMs === undefined ? 'success' : 'requeue_after' });
      end(trace.hasChanged ? 'changed' : 'unchanged');
    } catch (error) {
      if (signal.aborted) return end('unsettled');
      if (error instanceof UnsettledError) {
        metrics.reconciles.inc({ controller, result: 'requeue_after' });
        this.#queue.addAfter(key, error.retryAfterMs);
        trace.requeued(error.retryAfterMs);
        return end('unsettled');
      }
      metrics.reconciles.inc({ controller, result: 'error' });
      metrics.errors.inc({ controller });
      end('failed', error);
      const object = this.informer.cache.get(key);
      // A quota, a policy or a missing permission: whoever can mend it looks at the object, and not into the operator's log.
      if (object !== undefined && error instanceof KubeError && error.code === 403)
        events.record(object, { type: 'Warning', reason: 'ReconcileFailed', message: error.message });
      if (!isApiServerOutage(error)) throw error;
      this.#queue.addAfter(key, (error.retryAfterMs ?? OUTAGE_DELAY_MS) * (0.5 + random()));
    }
  }

  /** @returns after how many milliseconds to reconcile again, if at all */
  async #reconcile(key: string, trace: ReconcileTrace, signal: AbortSignal): Promise<number | undefined> {
    const { reconciler, informer, clock, isTerminating, events, referenceGraceMs } = this.#options;
    let object = this.#pendingWrites.latest(key, informer.cache.get(key));
    if (object === undefined || (!isDeleting(object) && isTerminating(object.metadata.namespace ?? ''))) return undefined;
    const retryWhenPostgresIsBack = (): void => void this.#waitingForPostgres.add(key);
    for (let round = 0; round < ROUNDS_LIMIT; round += 1) {
      const seen: Stored<T> = object;
      trace.observe(seen);
      const context: ReconcileContext = { now: clock.now(), round, signal, retryWhenPostgresIsBack };
      const planned = await trace.inSpan(() => reconciler.plan(seen, context));
      const plan = withReferenceGrace(seen, planned, { now: context.now, graceMs: referenceGraceMs });
      signal.throwIfAborted();
      for (const notice of plan.notices ?? []) events.record(object, notice);
      if (plan.actions.length === 0) {
        if (plan.status !== undefined) await this.#writeStatus(object, plan.status, trace, signal);
        return plan.requeueAfterMs;
      }
      for (const action of plan.actions) {
        const present: Stored<T> = object;
        const applied = await trace.step(action.type, () => this.#apply(action, present, context));
        signal.throwIfAborted();
        if (applied.replan === true) break;
        trace.changed(action.type);
        if (applied.object === undefined) continue;
        object = applied.object;
        this.#pendingWrites.record(object);
      }
    }
    throw new Error(`failed to reconcile ${this.kind} ${key}: still actions to carry out after ${ROUNDS_LIMIT} rounds`);
  }

  /** Other writers' finalizers stay; the resourceVersion in the patch keeps two writers from undoing each other. */
  async #apply(action: Action | FinalizerAction, object: Stored<T>, context: ReconcileContext): Promise<Applied<T>> {
    const common = action as FinalizerAction;
    if (common.type === 'adopt') {
      await this.#options.adopt(common, object, context.signal);
      return {};
    }
    if (common.type !== 'addFinalizer' && common.type !== 'dropFinalizer')
      return this.#options.reconciler.apply(action as Action, object, context);
    const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== wellKnown.finalizer);
    const finalizers = common.type === 'addFinalizer' ? [...others, wellKnown.finalizer] : others;
    return { object: await this.#options.client.patchFinalizers(object, finalizers, { signal: context.signal }) };
  }

  /** Writes the status if it differs. */
  async #writeStatus(object: Stored<T>, planned: Status, trace: ReconcileTrace, signal: AbortSignal): Promise<void> {
    const { reconciler, client, metrics, events } = this.#options;
    const decided = pick(planned, reconciler.statusFields);
    if (sameJson(decided, pick(object.status ?? {}, reconciler.statusFields))) return;
    const { name, namespace, uid } = object.metadata;
    const body = { apiVersion: object.apiVersion, kind: object.kind, metadata: { name, namespace, uid }, status: decided };
    const written = await trace.step('apply status', () => client.applyStatus(body as unknown as T, { signal }));
    trace.changed('status');
    metrics.statusWrites.inc({ kind: this.kind });
    this.#pendingWrites.record(written);
    const key = keyOf(object);
    // A change that came in between has its event swallowed as the echo of this write if a relist joins the two.
    if (written.metadata.generation !== object.metadata.generation || !sameJson(written.metadata.annotations, object.metadata.annotations))
      this.enqueue(key);
    const before = findSummary(object);
    const after = findSummary({ status: planned });
    if (after !== undefined && (before?.status !== after.status || before.reason !== after.reason)) {
      events.record(object, { type: after.status === 'False' ? 'Warning' : 'Normal', reason: after.reason, message: after.message });
    }
    if (after?.type === 'Ready' && after.status === 'True') {
      const seconds = this.#readyTimer.ready(key, object.metadata.generation ?? 0);
      if (seconds !== undefined) metrics.timeToReady.observe({ kind: this.kind }, seconds);
    }
  }
}

function pick(status: object, fields: readonly string[]): Record<string, unknown> {
  const values = status as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.filter((field) => values[field] !== undefined).map((field) => [field, values[field]]));
}

/** The API server is unavailable or overloaded; any other failure has to do with the object, and is tried again at growing intervals. */
function isApiServerOutage(error: unknown): error is KubeError {
  return error instanceof KubeError && [0, 429, 502, 503, 504].includes(error.code);
}
