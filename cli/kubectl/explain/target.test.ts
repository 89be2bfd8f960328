import { describe, expect, it } from 'vitest';

import { parseTarget } from './target.ts';

describe('parseTarget', () => {
  it.each([
    ['agent/a', 'Agent'],
    ['Agents/a', 'Agent'],
    ['ptool/a', 'Tool'],
    ['tool/a', 'Tool'],
    ['pagent/a', 'Agent'],
    ['pphone/a', 'PhoneNumber'],
    ['pkb/a', 'KnowledgeBase'],
    ['pwebhook/a', 'WebhookSubscription'],
    ['pn/a', 'PhoneNumber'],
    ['kbase/a', 'KnowledgeBase'],
    ['whsub/a', 'WebhookSubscription'],
    ['webhooksubscriptions.parley.dev/a', 'WebhookSubscription'],
  ])('reads %s', (text, kind) => {
    expect(parseTarget(text)).toMatchObject({ name: 'a', kind: { descriptor: { kind } } });
  });

  it.each(['agent', 'agent/', 'agent/a/b', 'pod/a', ''])('refuses %j with a way out', (text) => {
    expect(() => parseTarget(text)).toThrow(expect.objectContaining({ name: 'UserError', cure: expect.stringMatching(/\w/) }));
  });
});
