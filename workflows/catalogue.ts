/** Every workflow of the worker: Temporal can start each export by name. */
export { runAgentTests } from './agent-tests/workflow.ts';
export { analyseCall } from './analysis/workflow.ts';
export { clearCollection, clearDocument } from './clearing/workflow.ts';
export { deliverWithRetries } from './delivery/workflow.ts';
export { housekeeping } from './housekeeping/workflow.ts';
export { ingestDocument } from './ingestion/workflow.ts';
export { reindexCollection } from './reindex/workflow.ts';
