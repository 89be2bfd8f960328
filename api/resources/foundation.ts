/** What the services of all resources share. */
import type { AddressChecks } from '../../voice/calls/address-checks.ts';
import type { Transport } from '../../kube/transport.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { NumberAssignments, NumberPool } from '../../platform/config/phone-numbers.ts';
import type { FoundationDependencies } from '../dependencies.ts';
import { PageTokens } from '../pagination/page-token.ts';
import { Companions } from './companions.ts';
import { Contact } from './contact.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { createClients, type Clients } from './kinds.ts';
import { createViews, type Views } from './views.ts';
import { States } from '../state/states.ts';

/** Long prompts that are read ahead at a time. */
const readAhead = 8;

export interface Foundation {
  readonly clients: Clients;
  readonly transport: Transport;
  readonly contact: Contact;
  readonly views: Views;
  readonly states: States;
  readonly companions: Companions;
  readonly mutex: KeyedMutex;
  readonly pageTokens: PageTokens;
  readonly nativeNumbers: NumberPool;
  readonly numberClaims: FoundationDependencies['store']['numberClaims'];
  /** How long a number stays reserved for its organisation, in milliseconds. */
  readonly numberReservationMs: number;
  readonly numberAssignments: NumberAssignments;
  readonly addresses: AddressChecks;
  /** The only namespace that is looked at, if it is one only. */
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export function createFoundation(dependencies: FoundationDependencies): Foundation {
  const { clock, random, logger } = dependencies;
  const contact = new Contact(dependencies);
  const { transport } = contact;
  const clients = createClients(transport);
  const companions = new Companions({ clients, transport, clock, contact });
  const views = createViews(clients, contact, dependencies);
  // Long prompts stand elsewhere: they are read ahead, a few at a time, for the time when they can't be.
  const lanes = Array.from({ length: readAhead }, () => Promise.resolve());
  let next = 0;
  views.agents.onChange(({ metadata, spec }) => {
    const ref = spec.llm.systemPromptFrom?.configMapKeyRef;
    if (ref === undefined) return;
    const lane = next++ % readAhead;
    lanes[lane] = (lanes[lane] ?? Promise.resolve()).then(() => companions.remember(metadata.namespace ?? '', ref));
  });
  return {
    clients,
    transport,
    contact,
    views,
    states: new States(views),
    companions,
    mutex: new KeyedMutex(),
    pageTokens: new PageTokens(dependencies.signing),
    nativeNumbers: dependencies.limits.nativeNumbers,
    numberClaims: dependencies.store.numberClaims,
    numberReservationMs: dependencies.limits.numberReservationMs,
    numberAssignments: dependencies.limits.numberAssignments,
    addresses: dependencies.addresses,
    namespace: dependencies.namespace,
    clock,
    random,
    logger,
  };
}
