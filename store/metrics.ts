import { Gauge, type Registry } from 'prom-client';

import type { Database } from './database.ts';

/** Registers gauges of the pool: `waiting` above 0 for long means that it is too small or Postgres too slow. */
export function registerStoreMetrics(registry: Registry, database: Pick<Database, 'counts'>): void {
  const connections = new Gauge({
    name: 'parley_database_connections',
    help: 'Connections to Postgres: busy, idle, and callers waiting for one.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const { total, idle, waiting } = database.counts;
      this.set({ state: 'busy' }, total - idle);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  registry.registerMetric(connections);
}
