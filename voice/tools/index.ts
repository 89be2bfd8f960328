/** What the model of a call may do besides talking. */
export { createTools } from './create-tools.ts';
export { createToolServices, type ToolServices } from './services.ts';
