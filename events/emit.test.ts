import { describe, expect, it } from 'vitest';

import { eventCatalogue, eventNames } from './catalogue.ts';
import { buildEvent } from './emit.ts';

const now = Date.parse('2026-01-31T12:00:00.250Z');
const bodyOf = (body: Uint8Array): unknown => JSON.parse(Buffer.from(body).toString());

describe('the catalogue', () => {
  it('has the events that there are', () => {
    expect(eventNames).toEqual([
      'CallHandler.CallStarted',
      'CallHandler.CallEnded',
      'CallHandler.CallTransferred',
      'CallHandler.CallHandedOver',
      'CallHandler.RecordingReady',
      'CallAnalysis.Completed',
      'KnowledgeBase.DocumentCompleted',
      'KnowledgeBase.DocumentFailed',
      'Agent.RevisionServed',
      'Agent.RolledBack',
      'AgentTest.Completed',
      'Webhook.SubscriptionDisabled',
      'Webhook.Test',
    ]);
    for (const { description } of Object.values(eventCatalogue)) expect(description).toMatch(/^[A-Z].+\.$/);
  });
});

describe('an event', () => {
  it('says whose it is, what it is, when it was, and its own id', () => {
    const event = buildEvent({ name: 'Webhook.Test', org: 'acme', payload: { subscription_id: 'whs-1' }, onlySubscription: 'uid-1', now });
    expect(event).toMatchObject({ org: 'acme', name: 'Webhook.Test', onlySubscription: 'uid-1' });
    expect(event.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(bodyOf(event.body)).toEqual({
      organizationId: 'acme',
      traceId: `evt_${event.id}`,
      eventName: 'Webhook.Test',
      timestamp: now / 1000,
      payload: { subscription_id: 'whs-1' },
    });
  });

  it('has no payload but its own', () => {
    const call = { call_id: 'c', agent_id: 'a', status: 'ongoing', call_type: 'web_call' } as const;
    expect(() => buildEvent({ name: 'CallHandler.CallStarted', org: 'acme', payload: call, now })).not.toThrow();
    const wrong = { ...call, secret: 'x' };
    expect(() => buildEvent({ name: 'CallHandler.CallStarted', org: 'acme', payload: wrong, now })).toThrow(/secret/);
  });

  it('keeps texts that UTF-8 can’t write readable', () => {
    const { body } = buildEvent({
      name: 'Webhook.SubscriptionDisabled',
      org: 'acme',
      payload: { subscription_id: 'whs-1', reason: 'half a pair \ud800 🙂 "quoted"\u0000' },
      now,
    });
    expect(bodyOf(body)).toMatchObject({ payload: { reason: 'half a pair \ud800 🙂 "quoted"\u0000' } });
  });
});
