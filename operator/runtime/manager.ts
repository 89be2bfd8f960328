/** Joins informers, triggers and controllers: what happens in the cluster becomes keys in queues. Knows no kind. */
import type { Informer, KubeObject } from '../../kube/index.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { KindController, Trigger } from './controller.ts';
import type { DataKind, NamespaceInformers } from './namespace-informers.ts';
import type { PostgresOutage } from './postgres-outage.ts';

export interface ManagerOptions {
  readonly controllers: readonly KindController[];
  readonly organizations: Informer<KubeObject>;
  readonly namespaces: NamespaceInformers;
  readonly outage: PostgresOutage;
  readonly triggers: {
    onData(kind: DataKind, object: KubeObject): readonly Trigger[];
    onOrganization(namespace: string): readonly Trigger[];
  };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Everything is reconciled this often, in case an event was missed or Postgres was changed by hand; writes nothing unless there is a difference. */
const RESYNC_MS = 600_000;

export class Manager {
  readonly #options: ManagerOptions;

  constructor(options: ManagerOptions) {
    const { controllers, namespaces, outage, triggers } = options;
    this.#options = options;
    for (const controller of controllers) controller.listen((triggered) => this.#trigger(triggered));
    namespaces.onChange((kind, { object }) => this.#trigger(triggers.onData(kind, object)));
    namespaces.onLateListing((namespace) => this.#trigger(triggers.onOrganization(namespace)));
    outage.onRecovered(() => {
      for (const controller of controllers) controller.postgresIsBack();
    });
    this.#followOrganizations();
  }

  /** Begins to watch. A standby keeps its caches warm this way. */
  start(): void {
    for (const informer of this.#informers) informer.start();
  }

  /** Resolves when every cache has its first listing. */
  async synced(signal: AbortSignal): Promise<void> {
    const { namespaces } = this.#options;
    await Promise.all(this.#informers.map((informer) => informer.synced(signal)));
    await Promise.all(namespaces.names.map((namespace) => namespaces.listed(namespace, signal)));
  }

  /** Leads: works until the signal aborts, and resolves when nothing is in flight any more. */
  async lead(signal: AbortSignal): Promise<void> {
    await this.synced(signal);
    const resync = this.#resyncEvery(RESYNC_MS);
    try {
      await Promise.all(this.#options.controllers.map((controller) => controller.run(signal)));
    } finally {
      resync.cancel();
    }
  }

  async stop(): Promise<void> {
    const { controllers, namespaces, outage } = this.#options;
    outage.close();
    for (const controller of controllers) controller.shutDown();
    await Promise.all([namespaces.stop(), ...this.#informers.map((informer) => informer.stop())]);
  }

  get #informers(): readonly Pick<Informer<KubeObject>, 'start' | 'stop' | 'synced'>[] {
    return [...this.#options.controllers.map(({ informer }) => informer), this.#options.organizations];
  }

  #trigger(triggers: readonly Trigger[]): void {
    for (const { kind, key } of triggers) this.#options.controllers.find((controller) => controller.kind === kind)?.enqueue(key);
  }

  #followOrganizations(): void {
    const { controllers, organizations, namespaces, triggers, logger } = this.#options;
    organizations.onChange((change) => {
      if (change.type === 'modified') return;
      const { name } = change.object.metadata;
      if (change.type === 'added') namespaces.add(name);
      else
        namespaces.remove(name).catch((err: unknown) => logger.warn({ err, namespace: name }, 'failed to stop the watch of a namespace'));
      this.#trigger(triggers.onOrganization(name));
      if (change.type === 'deleted') for (const controller of controllers) controller.organizationDeleted();
    });
  }

  #resyncEvery(ms: number): Timer {
    const { clock, controllers } = this.#options;
    const next = (): Timer =>
      clock.after(ms, () => {
        timer = next();
        for (const controller of controllers) controller.resync();
      });
    let timer = next();
    return { cancel: () => timer.cancel() };
  }
}
