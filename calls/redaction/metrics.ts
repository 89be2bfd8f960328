import { Counter, type Registry } from 'prom-client';

import { redactionKinds } from '../../crds/redaction.ts';

/** Names of kinds in REST and in metrics. */
const NAMES: Readonly<Record<string, string>> = {
  Card: 'card',
  IBAN: 'iban',
  Phone: 'phone',
  Email: 'email',
  BirthDate: 'birth_date',
  Address: 'address',
  Name: 'name',
};

/** Returns the name that is counted: of a kind, or of a pattern. */
export const redactionName = (kind: string): string => NAMES[kind] ?? kind;

/** Returns the label of the metric: patterns are as many as agents want, and count together. */
export const redactionLabel = (kind: string): string => (redactionKinds.some((each) => each === kind) ? redactionName(kind) : 'pattern');

export const redactionsCounter = (registers: Registry[]): Counter<'kind'> =>
  new Counter({
    name: 'parley_redactions_total',
    help: 'Values that were taken out of what is stored of calls, by kind; `pattern` for those of agents.',
    labelNames: ['kind'],
    registers,
  });
