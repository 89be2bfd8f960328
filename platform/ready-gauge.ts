import { Gauge } from 'prom-client';

import type { Readiness } from './lifecycle.ts';

/** Says for each of the roles that report readiness when it is 1. */
const meanings = {
  worker: '1 while Temporal and Postgres answer and the worker takes work.',
  dispatcher: '1 while Postgres and the API server answer and events are delivered.',
} as const;

/** Creates the gauge `parley_<role>_ready`, in no registry yet. */
export const readyGauge = (role: keyof typeof meanings, readiness: Pick<Readiness, 'isReady'>): Gauge =>
  new Gauge({
    name: `parley_${role}_ready`,
    help: meanings[role],
    registers: [],
    collect() {
      this.set(readiness.isReady ? 1 : 0);
    },
  });
