import type { Registry } from 'prom-client';

import type { CommonStatus } from '../../crds/index.ts';
import {
  KubeError,
  WorkQueue,
  type Change,
  type EventRecorder,
  type Informer,
  type ResourceClient,
  type Stored,
} from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isDeleting, type Managed } from '../status/common.ts';
import { conditionOf } from '../status/conditions.ts';
import { sameJson } from '../status/equality.ts';
import type { OperatorMetrics } from './metrics.ts';
import { PendingWrites } from './pending-writes.ts';
import { Pass, type Outcome } from './reconcile-trace.ts';
import type { Plan } from './plan.ts';
import { ReadyTimer } from './ready-timer.ts';
import { UnsettledError } from './unsettled.ts';

export type Priority = 'user' | 'initial' | 'resync';

/** What makes one kind different from the others. */
export interface Reconciler<T extends Managed, Action, Status> {
  readonly kind: string;
  /** The status fields that a plan decides; others belong to somebody else and are neither compared nor written. */
  readonly statusFields: readonly (keyof Status & string)[];
  /** Looks at the world and plans. */
  decide(object: Stored<T>, context: ReconcileContext): Promise<Plan<Action, Status>>;
  /** Carries out one action. */
  apply(action: Action, object: Stored<T>, context: ReconcileContext): Promise<Applied<T>>;
}

export interface ReconcileContext {
  /** Milliseconds since the epoch, the same throughout a pass. */
  readonly now: number;
  /** Aborts when leadership ends. */
  readonly signal: AbortSignal;
}

export interface Applied<T extends Managed> {
  /** The object after the action, where it changed. */
  readonly object?: Stored<T>;
  /** The world turned out otherwise: leave the remaining actions and plan again. */
  readonly replan?: boolean;
}

export interface ControllerOptions<T extends Managed, Action, Status extends CommonStatus> {
  readonly logic: Reconciler<T, Action, Status>;
  readonly informer: Informer<T>;
  readonly client: ResourceClient<T>;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Whether the namespace is on its way out: there only deletions are worth any work, and nothing new may be created. */
  readonly isTerminating: (namespace: string) => boolean;
  readonly metrics: OperatorMetrics;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** More rounds of acting and looking again than any plan needs. */
const ROUNDS_LIMIT = 6;
/** While the API server is away keys come back in about this time, in milliseconds; growing delays would keep them away long after it is back. */
const OUTAGE_DELAY_MS = 1_000;

/** Runs one kind: a queue of keys, and for each key observe → plan → act → write the status if it differs. */
export class Controller<T extends Managed, Action, Status extends CommonStatus> {
  readonly #options: ControllerOptions<T, Action, Status>;
  readonly #queue: WorkQueue<string>;
  readonly #pendingWrites = new PendingWrites<T>();
  readonly #readyTimer: ReadyTimer;
  readonly #logger: Logger;
  #active = false;

  constructor(options: ControllerOptions<T, Action, Status>) {
    const { logic, clock, random, registry, metrics, concurrency } = options;
    this.#options = options;
    this.#queue = new WorkQueue<string>({ name: logic.kind.toLowerCase(), clock, random, registry });
    this.#readyTimer = new ReadyTimer(clock);
    this.#logger = options.logger;
    metrics.limit.set({ controller: this.#name }, concurrency);
    metrics.active.set({ controller: this.#name }, 0);
  }

  get #name(): string {
    return this.#options.logic.kind.toLowerCase();
  }

  /** Something an object depends on changed. A process that stands by takes no notice: it starts with all keys. */
  enqueue(key: string, priority: Priority = 'user'): void {
    if (this.#active) this.#queue.add(key, { priority });
  }

  enqueueAll(priority: Priority): void {
    for (const object of this.#options.informer.cache.list()) this.enqueue(keyFor(object), priority);
  }

  /** A change of an object itself. */
  changed(change: Change<Stored<T>>): void {
    const key = keyFor(change.object);
    if (change.type === 'deleted') {
      this.#pendingWrites.forget(key);
      this.#readyTimer.forget(key);
      this.enqueue(key);
      return;
    }
    if (this.#pendingWrites.isEcho(change.object)) return;
    this.#readyTimer.saw(key, change.object);
    this.enqueue(key, change.initial ? 'initial' : 'user');
  }

  /** Works until the signal aborts; resolves when nothing is in flight any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { concurrency } = this.#options;
    this.#active = true;
    this.enqueueAll('initial');
    try {
      await this.#queue.run({ concurrency, signal, handle: (key, handlerSignal) => this.#handle(key, handlerSignal) });
    } finally {
      this.#active = false;
    }
  }

  /** Takes no more keys, for good. */
  shutDown(): void {
    this.#queue.shutDown();
  }

  async #handle(key: string, signal: AbortSignal): Promise<void> {
    const { metrics, clock, random, logic } = this.#options;
    const controller = this.#name;
    const pass = new Pass({ kind: logic.kind, key, clock, logger: this.#logger });
    const end = (outcome: Outcome, error?: unknown): void => {
      metrics.active.dec({ controller });
      metrics.duration.observe({ controller }, pass.end(outcome, error) / 1000);
    };
    metrics.active.inc({ controller });
    try {
      const requeueAfterMs = await this.#reconcile(key, pass, signal);
      if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
      pass.requeued(requeueAfterMs);
      metrics.reconciles.inc({ controller, result: requeueAfterMs === undefined ? 'success' : 'requeue_after' });
      end(pass.hasChanged ? 'changed' : 'unchanged');
    } catch (error) {
      if (signal.aborted) return end('unsettled');
      if (error instanceof UnsettledError) {
        metrics.reconciles.inc({ controller, result: 'requeue_after' });
        this.#queue.addAfter(key, error.retryAfterMs);
        pass.requeued(error.retryAfterMs);
        return end('unsettled');
      }
      metrics.reconciles.inc({ controller, result: 'error' });
      metrics.errors.inc({ controller });
      end('failed', error);
      if (!isOutage(error)) throw error;
      this.#queue.addAfter(key, (error.retryAfterMs ?? OUTAGE_DELAY_MS) * (0.5 + random()));
    }
  }

  /** @returns after how many milliseconds to look again, if at all */
  async #reconcile(key: string, pass: Pass, signal: AbortSignal): Promise<number | undefined> {
    const { logic, informer, clock, isTerminating } = this.#options;
    let object = this.#pendingWrites.latest(key, informer.cache.get(key));
    if (object === undefined || (!isDeleting(object) && isTerminating(object.metadata.namespace ?? ''))) return undefined;
    for (let round = 0; round < ROUNDS_LIMIT; round += 1) {
      const seen: Stored<T> = object;
      pass.sees(seen);
      const context: ReconcileContext = { now: clock.now(), signal };
      const plan = await pass.looks(() => logic.decide(seen, context));
      signal.throwIfAborted();
      for (const notice of plan.notices ?? []) this.#options.events.record(object, notice);
      if (plan.actions.length === 0) {
        if (plan.status !== undefined) await this.#writeStatus(object, plan.status, pass, signal);
        return plan.requeueAfterMs;
      }
      for (const action of plan.actions) {
        const { type } = action as { readonly type: string };
        const present: Stored<T> = object;
        const carried = await pass.does(type, () => logic.apply(action, present, context));
        signal.throwIfAborted();
        if (carried.replan === true) break;
        pass.changed(type);
        if (carried.object === undefined) continue;
        object = carried.object;
        this.#pendingWrites.note(object);
      }
    }
    throw new Error(`${logic.kind} ${key}: planning led to ever new actions`);
  }

  /** Writes it if it differs. */
  async #writeStatus(object: Stored<T>, planned: Status, pass: Pass, signal: AbortSignal): Promise<void> {
    const { logic, client, metrics, events } = this.#options;
    const decided = pick(planned, logic.statusFields);
    if (sameJson(decided, pick(object.status ?? {}, logic.statusFields))) return;
    const { name, namespace, uid } = object.metadata;
    const body = { apiVersion: object.apiVersion, kind: object.kind, metadata: { name, namespace, uid }, status: decided };
    const written = await pass.does('apply status', () => client.applyStatus(body as unknown as T, { signal }));
    pass.changed('status');
    metrics.statusWrites.inc({ kind: logic.kind });
    this.#pendingWrites.note(written);
    const key = keyFor(object);
    // A change that came in between has its event swallowed as the echo of this write if a relist joins the two.
    if (written.metadata.generation !== object.metadata.generation || !sameJson(written.metadata.annotations, object.metadata.annotations))
      this.enqueue(key);
    const before = conditionOf(object, 'Ready');
    const after = conditionOf({ status: planned }, 'Ready');
    if (after !== undefined && (before?.status !== after.status || before.reason !== after.reason)) {
      events.record(object, { type: after.status === 'False' ? 'Warning' : 'Normal', reason: after.reason, message: after.message });
    }
    if (after?.status === 'True') {
      const seconds = this.#readyTimer.ready(key, object.metadata.generation ?? 0);
      if (seconds !== undefined) metrics.timeToReady.observe({ kind: logic.kind }, seconds);
    }
  }
}

function keyFor(object: Managed): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

function pick(status: object, fields: readonly string[]): Record<string, unknown> {
  const values = status as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.filter((field) => values[field] !== undefined).map((field) => [field, values[field]]));
}

/** The API server is away or overloaded; any other failure has to do with the object, and is tried again at growing intervals. */
function isOutage(error: unknown): error is KubeError {
  return error instanceof KubeError && [0, 429, 502, 503, 504].includes(error.code);
}
