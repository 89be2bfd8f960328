import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Creates one role's registry, with the metrics of the Node.js process and `parley_build_info`. */
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
