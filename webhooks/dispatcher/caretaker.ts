/**
 * Looks regularly after what nothing else tells of: rows that another process left behind, endpoints to try again, subscriptions that
 * were switched on or off or are gone, retries that no workflow has.
 */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import { probeDue, probeTaken } from '../breaker/breaker.ts';
import { Departures } from '../health/departures.ts';
import { Successions } from '../health/successions.ts';
import type { EndpointChange, EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { Dispatcher } from './dispatcher.ts';
import { breakerOf, type EndpointBook } from './endpoint-book.ts';

export interface CaretakerOptions {
  readonly store: DispatchStore;
  readonly directory: EndpointDirectory;
  readonly book: EndpointBook;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Between two looks for due rows, in milliseconds. */
const DUE_MS = 1_000;
/** Between two looks for everything else. */
const SWEEP_MS = 5_000;

export class Caretaker {
  readonly #options: CaretakerOptions;
  readonly #stopping = new AbortController();
  readonly #departures: Departures;
  readonly #successions: Successions;
  #running: Promise<unknown> | undefined;

  constructor(options: CaretakerOptions) {
    this.#options = options;
    const { store, directory, book, dispatcher, clock, logger } = options;
    this.#departures = new Departures({ store, directory, onGone: (uid) => book.forget(uid), clock });
    this.#successions = new Successions({
      store,
      directory,
      isLeaving: (uid) => this.#departures.isLeaving(uid),
      onAdopted: (uid) => dispatcher.fetcher.due([uid]),
      clock,
      logger,
    });
  }

  start(): void {
    const { directory } = this.#options;
    const unsubscribe = directory.onChange((change) => void this.#changed(change));
    this.#running ??= Promise.all([
      this.#regularly(DUE_MS, 'due deliveries were not looked for', () => this.#lookForDue()),
      this.#regularly(SWEEP_MS, 'what was left behind was not looked for', () => this.#sweep()),
    ]).finally(unsubscribe);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the caretaker stops'));
    await this.#running;
  }

  async #regularly(everyMs: number, complaint: string, look: () => Promise<void>): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { signal } = this.#stopping;
    for (let failing = false; !signal.aborted;) {
      try {
        await look();
        failing = false;
      } catch (err) {
        if (!failing) logger.warn({ err }, `${complaint}; the next round looks again`);
        failing = true;
      }
      // Replicas don't look all at the same time.
      await sleep(clock, everyMs * (0.75 + random() / 2), signal).catch(() => undefined);
    }
  }

  async #lookForDue(): Promise<void> {
    const { store, directory, book, dispatcher } = this.#options;
    await book.refresh();
    const ready: string[] = [];
    for (const uid of await store.dueSubscriptions()) {
      const endpoint = directory.byUid(uid);
      if (endpoint === undefined) continue;
      const gate = book.gate(endpoint);
      if (gate === 'open') ready.push(uid);
      else if (gate === 'parked') await this.#probe(endpoint);
      else if (gate === 'disabled') await this.#endAll(uid);
    }
    if (ready.length > 0) dispatcher.fetcher.due(ready);
  }

  /** One delivery of an endpoint that is left alone is tried when its time has come, by one of all processes. */
  async #probe(endpoint: Endpoint): Promise<void> {
    const { store, book, dispatcher, clock } = this.#options;
    const { deliverer } = dispatcher;
    const { uid } = endpoint;
    const now = clock.now();
    const record = book.get(uid);
    const breaker = breakerOf(record);
    if (record === undefined || breaker.state !== 'open' || !probeDue(breaker, now)) return;
    const leaseMs = deliverer.leaseMs(uid);
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
      if (changed !== undefined) book.take([changed]);
    }
    const claimed = await store.claim(new Map([[uid, 1]]), () => leaseMs, 1);
    for (const { subscriptionUid } of claimed) deliverer.lanes.hold(subscriptionUid);
    deliverer.accept(claimed, { leaseMs: () => leaseMs, probe: true });
  }

  async #sweep(): Promise<void> {
    const { store, directory, book, dispatcher } = this.#options;
    await book.enableChanged((uid) => directory.byUid(uid));
    for (const uid of await store.subscriptionsIn(['paused', 'retry_pending'])) {
      const endpoint = directory.byUid(uid);
      const gate = endpoint && book.gate(endpoint);
      if (gate === 'disabled') await this.#endAll(uid);
      else if (gate === 'open' || gate === 'parked') await this.#resume(uid);
      // What is left alone is tried from here: it needs no workflow, and must not wait for one.
      if (gate === 'parked') await store.transition({ subscriptionUid: uid, from: ['retry_pending'], to: 'pending' });
    }
    await this.#successions.look();
    await this.#departures.look();
    await dispatcher.handOver.sweep();
  }

  async #changed({ uid, endpoint, previous }: EndpointChange): Promise<void> {
    const { book, dispatcher, logger } = this.#options;
    try {
      if (endpoint !== undefined && previous !== undefined && previous.url !== endpoint.url) await this.#closeBreaker(uid);
      if (endpoint === undefined) await this.#departures.left(uid);
      else if (previous !== undefined && !previous.active && endpoint.active) {
        await this.#resume(uid);
        // Those that nobody had claimed waited as they were.
        dispatcher.fetcher.due([uid]);
      } else if (endpoint.active && book.gate(endpoint) === 'open' && dispatcher.deliverer.lanes.isHot(uid)) dispatcher.fetcher.wake();
    } catch (err) {
      logger.warn({ err, uid }, 'a change of a subscription was not followed; the next round does it');
    }
  }

  /** A new address is another endpoint: failures of the former one say nothing about it. */
  async #closeBreaker(uid: string): Promise<void> {
    const { store, book, dispatcher } = this.#options;
    const [record] = await store.endpoints({ uids: [uid] });
    if (record === undefined || record.breaker === 'closed') return;
    const { org, version } = record;
    const closed = { breaker: 'closed', probeInMs: undefined, opened: 0, ramp: 0, rampLeft: 0 } as const;
    const changed = await store.changeBreaker({ org, subscriptionUid: uid, version, ...closed });
    // Another replica was quicker, or a probe is on its way: to the new address.
    if (changed === undefined) return;
    book.take([changed]);
    dispatcher.fetcher.due([uid]);
  }

  async #resume(uid: string): Promise<void> {
    const { store, dispatcher } = this.#options;
    if ((await store.transition({ subscriptionUid: uid, from: ['paused'], to: 'pending', due: 'now' })) > 0) dispatcher.fetcher.due([uid]);
  }

  /** Nothing is sent to an endpoint that switched itself off; what waited for it can be sent anew later. */
  async #endAll(uid: string): Promise<void> {
    const { store } = this.#options;
    await store.transition({ subscriptionUid: uid, from: ['pending', 'paused', 'retry_pending'], to: 'skipped', reason: 'disabled' });
  }
}
