/** Every workflow of the worker: what is exported here is what Temporal can start by name. */
export { housekeeping } from './housekeeping/workflow.ts';
