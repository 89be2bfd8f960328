/** What the model of a call may do besides talking. */
export { createTools, type CreateToolsOptions } from './create-tools.ts';
export type { KnowledgeSource, ToolHost, TransferOutcome, TransferTarget } from './tool-host.ts';
export { createToolServices, type ToolServices } from './services.ts';
