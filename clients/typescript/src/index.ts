/** Client of the Parley API. */
export { ParleyError, type FieldProblem } from './error.ts';
export { Parley, type ParleyOptions } from './parley.ts';
export { verifyWebhook, WebhookVerificationError, type WebhookEvent, type WebhookHeaders } from './webhooks.ts';
export type { components, operations, paths } from './schema.ts';
