/** For tests: a double of the API server. */
export { startApiServerDouble, type ApiServerDouble, type ApiServerDoubleOptions } from './server.ts';
export { resourceOf, type DoubleResource } from './resource.ts';
export type { Fault, FaultKind, FaultMatch, Faults, SeenRequest } from './faults.ts';
export type { JsonSchema } from './schema.ts';
