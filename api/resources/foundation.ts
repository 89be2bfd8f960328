/** What the services of all resources share. */
import type { Clock } from '../../platform/clock.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { PageTokens } from '../pagination/page-token.ts';
import { Companions } from './companions.ts';
import { createClients, type Clients } from './kinds.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import type { Transport } from '../../kube/transport.ts';
import { createViews, type Views } from './views.ts';
import type { Logger } from '../../platform/logging.ts';

export interface Foundation {
  readonly clients: Clients;
  readonly transport: Transport;
  readonly views: Views;
  readonly companions: Companions;
  readonly mutex: KeyedMutex;
  readonly pageTokens: PageTokens;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export function createFoundation(dependencies: ApiDependencies): Foundation {
  const { transport, clock, random, logger } = dependencies;
  const clients = createClients(transport);
  return {
    clients,
    transport,
    views: createViews(clients, dependencies),
    companions: new Companions({ clients, transport, clock }),
    mutex: new KeyedMutex(),
    pageTokens: new PageTokens(dependencies.pageTokenKey),
    clock,
    random,
    logger,
  };
}
