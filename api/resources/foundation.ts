/** What the services of all resources share. */
import type { Transport } from '../../kube/transport.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { PageTokens } from '../pagination/page-token.ts';
import { Companions } from './companions.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { createClients, type Clients } from './kinds.ts';
import { createViews, type Views } from './views.ts';

/** Longest wait for one answer of the API server, in milliseconds: a client waits behind it. */
const answerWithinMs = 10_000;

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
  const { clock, random, logger } = dependencies;
  const transport = impatient(dependencies.transport);
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

function impatient(transport: Transport): Transport {
  return {
    server: transport.server,
    request: (request) => transport.request({ timeoutMs: answerWithinMs, ...request }),
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
  };
}
