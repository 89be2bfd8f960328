import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Upper bounds in seconds for what a person or a caller waits for. */
export const durationBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** One role's metrics, with those of the Node.js process and `parley_build_info`. */
export function createRegistry(options: { readonly role: string; readonly version: string }): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'parley_build_info',
    help: 'Always 1; the labels say which version runs, in which role.',
    labelNames: ['version', 'role', 'node'],
    registers: [registry],
  }).set({ version: options.version, role: options.role, node: process.version }, 1);
  return registry;
}
