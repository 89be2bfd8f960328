/**
 * Looks regularly for what no event reports: rows that another process left behind, parked endpoints to probe, subscriptions that were
 * switched on or off or deleted, retries without a workflow.
 */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import { probeDue, probeTaken } from '../endpoint-health/circuit-breaker.ts';
import { DeadDispatchers } from './dead-dispatchers.ts';
import { DeletedSubscriptions } from './deleted-subscriptions.ts';
import { RecreatedSubscriptions } from './recreated-subscriptions.ts';
import type { EndpointChange, EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { Attempter } from './attempter.ts';
import type { EndpointQueues } from './endpoint-queues.ts';
import type { HandOver } from './hand-over.ts';
import { breakerOf, type EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';

export interface DeliverySweeperOptions {
  readonly store: DispatchStore;
  readonly directory: EndpointDirectory;
  readonly health: EndpointHealthCache;
  readonly queues: EndpointQueues;
  readonly attempter: Attempter;
  readonly retries: HandOver;
  /** Called when another dispatcher has died: the events that it was relaying are in the outbox again. */
  readonly onDeath: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Time between two looks for due rows, in milliseconds. */
const DUE_MS = 1_000;
/** Time between two looks for dispatchers that have died, in milliseconds. */
const ALIVE_MS = 250;
/** Time between two looks for everything else, in milliseconds. */
const SWEEP_MS = 5_000;

export class DeliverySweeper {
  readonly #options: DeliverySweeperOptions;
  readonly #stopping = new AbortController();
  readonly #dead: DeadDispatchers;
  readonly #deleted: DeletedSubscriptions;
  readonly #recreated: RecreatedSubscriptions;
  #running: Promise<unknown> | undefined;

  constructor(options: DeliverySweeperOptions) {
    this.#options = options;
    const { store, directory, health, queues, onDeath, clock, logger } = options;
    this.#dead = new DeadDispatchers({
      store,
      onDeath: (uids) => {
        queues.due(uids);
        onDeath();
      },
      logger,
    });
    this.#deleted = new DeletedSubscriptions({ store, directory, onGone: (uid) => health.forget(uid), clock });
    this.#recreated = new RecreatedSubscriptions({
      store,
      directory,
      isLeaving: (uid) => this.#deleted.isLeaving(uid),
      onAdopted: (uid) => queues.due([uid]),
      clock,
      logger,
    });
  }

  start(): void {
    const { directory, clock, random, logger } = this.#options;
    const { signal } = this.#stopping;
    const unsubscribe = directory.onChange((change) => void this.#changed(change));
    const common = { random, clock, logger, signal };
    this.#running ??= Promise.all([
      every({ ...common, intervalMs: DUE_MS, failure: 'failed to look for due deliveries; trying again' }, () => this.#lookForDue()),
      every({ ...common, intervalMs: ALIVE_MS, failure: 'failed to look for dispatchers that have died; trying again' }, () =>
        this.#dead.look(),
      ),
      every({ ...common, intervalMs: SWEEP_MS, failure: 'failed to sweep for deliveries left behind; trying again' }, () => this.#sweep()),
    ]).finally(unsubscribe);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the sweeper stops'));
    await this.#running;
  }

  async #lookForDue(): Promise<void> {
    const { store, directory, health, queues } = this.#options;
    await health.refresh();
    const ready: string[] = [];
    for (const uid of await store.dueSubscriptions()) {
      const endpoint = directory.byUid(uid);
      if (endpoint === undefined) continue;
      const gate = health.gate(endpoint);
      if (gate === 'open') ready.push(uid);
      else if (gate === 'parked') await this.#probe(endpoint);
      else if (gate === 'disabled') await this.#endAll(uid);
      // Deliveries wait for their owner now: what is `pending` and due is late.
      else if (gate === 'paused') await store.transition({ subscriptionUid: uid, from: ['pending'], to: 'paused', onlyDue: true });
    }
    if (ready.length > 0) queues.due(ready);
  }

  /** When its time has come, one of all processes tries one delivery of a parked endpoint. */
  async #probe(endpoint: Endpoint): Promise<void> {
    const { store, health, queues, attempter, clock } = this.#options;
    const { uid } = endpoint;
    const now = clock.now();
    const record = health.get(uid);
    const breaker = breakerOf(record);
    if (record === undefined || breaker.state !== 'open' || !probeDue(breaker, now)) return;
    const leaseMs = attempter.leaseMs(uid);
    const after = probeTaken(breaker, { now, leaseMs });
    if (after.state !== 'open' || !(await store.takeProbe(uid, after.probeAt - now))) return;
    const [current] = await store.endpoints({ uids: [uid] });
    if (current?.breaker === 'open') {
      const { org, version } = current;
      const probeInMs = after.probeAt - now;
      const changed = await store.changeBreaker({
        org,
        subscriptionUid: uid,
        version,
        breaker: 'open',
        probeInMs,
        opened: after.opened,
        ramp: 0,
        rampLeft: 0,
      });
      if (changed !== undefined) health.take([changed]);
    }
    const claimed = await store.claim(new Map([[uid, 1]]), () => leaseMs, 1);
    for (const { subscriptionUid } of claimed) queues.hold(subscriptionUid);
    attempter.accept(claimed, { leaseMs: () => leaseMs, probe: true });
  }

  async #sweep(): Promise<void> {
    const { store, directory, health, retries } = this.#options;
    await health.enableChanged((uid) => directory.byUid(uid));
    for (const uid of await store.subscriptionsIn(['paused', 'retry_pending'])) {
      const endpoint = directory.byUid(uid);
      const gate = endpoint && health.gate(endpoint);
      if (gate === 'disabled') await this.#endAll(uid);
      else if (gate === 'open' || gate === 'parked') await this.#resume(uid);
      // Deliveries of a parked endpoint are probed from here: they need no workflow, and must not wait for one.
      if (gate === 'parked') await store.transition({ subscriptionUid: uid, from: ['retry_pending'], to: 'pending' });
    }
    await this.#recreated.look();
    await this.#deleted.look();
    await retries.sweep();
  }

  async #changed({ uid, endpoint, previous }: EndpointChange): Promise<void> {
    const { health, queues, logger } = this.#options;
    try {
      if (endpoint !== undefined && previous !== undefined && previous.url !== endpoint.url) await this.#forgetFailures(uid);
      if (endpoint === undefined) await this.#deleted.left(uid);
      else if (previous !== undefined && !previous.active && endpoint.active) {
        await this.#resume(uid);
        // Deliveries that weren't due yet waited as they were.
        queues.due([uid]);
      } else if (endpoint.active && health.gate(endpoint) === 'open' && queues.isHot(uid)) queues.wake();
    } catch (err) {
      logger.warn({ err, uid }, 'failed to follow a change of a subscription; the next sweep does');
    }
  }

  /** A new address is another endpoint: failures of the former one say nothing about it. */
  async #forgetFailures(uid: string): Promise<void> {
    const { store, health, queues } = this.#options;
    const changed = await store.forgetFailures(uid);
    if (changed === undefined) return;
    health.take([changed]);
    queues.due([uid]);
  }

  async #resume(uid: string): Promise<void> {
    const { store, queues } = this.#options;
    while ((await store.transition({ subscriptionUid: uid, from: ['paused'], to: 'pending', due: 'now' })) > 0) queues.due([uid]);
  }

  /** Nothing is sent to an endpoint that switched itself off; what waited for it can be redelivered later. */
  async #endAll(uid: string): Promise<void> {
    const { store } = this.#options;
    await store.transition({ subscriptionUid: uid, from: ['pending', 'paused', 'retry_pending'], to: 'skipped', reason: 'disabled' });
  }
}
