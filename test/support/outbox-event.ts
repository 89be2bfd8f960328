import type { OutboxEvent } from '../../store/webhooks/types.ts';

/** Returns an event in the outbox for tests that need one: of `acme`, for every subscription, written at the epoch. */
export const outboxEvent = (id: string, more: Partial<OutboxEvent> = {}): OutboxEvent => ({
  id,
  org: 'acme',
  name: 'CallHandler.CallStarted',
  agent: undefined,
  workspace: undefined,
  onlySubscription: undefined,
  exceptSubscription: undefined,
  body: Buffer.from('{}'),
  createdAt: new Date(0),
  watermark: undefined,
  ...more,
});
