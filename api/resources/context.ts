/** Declares what writing and reading a resource takes, whatever its kind. */
import type { AddressChecks } from '../../calls/address-checks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { ResourceDependencies } from '../dependencies.ts';
import { PageTokens } from '../pagination/page-token.ts';
import { ApiServerAvailability } from './api-server-availability.ts';
import { Companions } from './companions.ts';
import { createCoreClients, type CoreClients } from './core-clients.ts';

export interface ResourceContext {
  readonly clients: CoreClients;
  readonly availability: ApiServerAvailability;
  readonly companions: Companions;
  readonly mutex: KeyedMutex;
  readonly pageTokens: PageTokens;
  readonly addresses: AddressChecks;
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export function createResourceContext(dependencies: ResourceDependencies): ResourceContext {
  const { clock, random, logger, addresses, namespace } = dependencies;
  const availability = new ApiServerAvailability(dependencies);
  const clients = createCoreClients(availability.transport);
  return {
    clients,
    availability,
    companions: new Companions(clients, availability),
    mutex: new KeyedMutex(),
    pageTokens: new PageTokens(dependencies.signing),
    addresses,
    namespace,
    clock,
    random,
    logger,
  };
}

/** Runs one task at a time for each key, in the order of arrival: writers of one object on this replica don't conflict. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    const tail = mine.catch(() => undefined);
    this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
