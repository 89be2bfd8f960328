import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Endpoint, EventToMatch } from './endpoint.ts';
import { agentLookupKey, indexKeys, lookupKeys, matches } from './match.ts';

const anEndpoint = (more: Partial<Endpoint> = {}): Endpoint => ({
  uid: 'uid-1',
  org: 'acme',
  name: 'hook',
  kind: 'WebhookSubscription',
  url: 'https://hooks.example.com/',
  events: [],
  active: true,
  timeoutMs: 1000,
  retry: { strategy: 'FixedDelay', maxRetries: 0, delayMs: 0 },
  headers: [],
  generation: 1,
  resourceVersion: '1',
  ...more,
});
const ended = { org: 'acme', name: 'CallHandler.CallEnded', agent: 'anna', workspace: 'north' } as const;
const completed = { org: 'acme', name: 'KnowledgeBase.DocumentCompleted', workspace: 'north' } as const;

describe('a subscription', () => {
  it.each<[string, Partial<Endpoint>, EventToMatch, boolean]>([
    ['of everything', {}, ended, true],
    ['of another organisation', { org: 'other' }, ended, false],
    ['of the event', { events: ['Webhook.Test', 'CallHandler.CallEnded'] }, ended, true],
    ['of other events', { events: ['CallHandler.CallStarted', 'CallHandler'] }, ended, false],
    ['of the same event in other letters', { events: ['callhandler.callended'] }, ended, false],
    ['of the agent', { scope: { agents: ['bert', 'anna'] } }, ended, true],
    ['of other agents', { scope: { agents: ['bert'] } }, ended, false],
    ['of an agent, for an event of none', { scope: { agents: ['anna'] } }, completed, false],
    ['of the workspace', { scope: { workspaces: ['south', 'north'] } }, completed, true],
    ['of other workspaces', { scope: { workspaces: ['south'] } }, completed, false],
    ['of a workspace, for an event of none', { scope: { workspaces: ['north'] } }, { org: 'acme', name: 'CallHandler.CallEnded' }, false],
    ['of the agent and other events', { events: ['Webhook.Test'], scope: { agents: ['anna'] } }, ended, false],
    ['that the event is not for', {}, { ...ended, exceptSubscription: 'uid-1' }, false],
    ['other than the one that the event is not for', {}, { ...ended, exceptSubscription: 'uid-2' }, true],
    [
      'that alone the event is for, whatever it asks for',
      { events: ['A.B'], scope: { agents: ['x'] } },
      { ...ended, onlySubscription: 'uid-1' },
      true,
    ],
    ['other than the one that alone the event is for', {}, { ...ended, onlySubscription: 'uid-2' }, false],
    ['of another organisation that the event is said to be for', { org: 'other' }, { ...ended, onlySubscription: 'uid-1' }, false],
    ['that is paused, which is not decided here', { active: false }, ended, true],
  ])('%s: %#', (_, more, event, expected) => {
    expect(matches(anEndpoint(more), event)).toBe(expected);
  });
});

it.each<[EventToMatch, boolean]>([
  [ended, true],
  [{ ...ended, name: 'CallAnalysis.Completed' }, true],
  [{ ...ended, name: 'CallHandlers.Other' }, false],
  [{ ...ended, agent: 'bert' }, false],
  [{ org: 'acme', name: 'CallHandler.CallEnded' }, false],
  [{ ...ended, org: 'other' }, false],
  [completed, false],
  [{ org: 'acme', name: 'Webhook.Test', agent: 'anna' }, false],
])('the address of an agent gets the events of its calls: %j %s', (event, expected) => {
  expect(matches(anEndpoint({ kind: 'Agent', name: 'anna' }), event)).toBe(expected);
});

it('finds by the index exactly those that match, each once', () => {
  const word = fc.constantFrom('a', 'b', 'c', '*', 'calls', 'agent');
  const name = fc.constantFrom('CallHandler.A', 'CallAnalysis.B', 'Webhook.C', '*');
  const many = fc.constantFrom(
    Array.from({ length: 150 }, (_, index) => `w${index}`),
    ['w1', 'w149'],
  );
  const places = fc.oneof(fc.uniqueArray(word, { minLength: 1 }), many);
  const scope = fc.oneof(fc.record({ agents: places }), fc.record({ workspaces: places }));
  const org = fc.constantFrom('acme', 'other');
  const events = fc.uniqueArray(name);
  const endpoint = fc.oneof(
    fc.record({ kind: fc.constant('WebhookSubscription' as const), org, events, scope }, { requiredKeys: ['kind', 'org', 'events'] }),
    fc.record({ kind: fc.constant('Agent' as const), org, name: word }),
  );
  const place = fc.oneof(word, fc.constantFrom('w1', 'w149', 'w150'));
  const event = fc.record({ org, name, agent: place, workspace: place }, { requiredKeys: ['org', 'name'] });
  fc.assert(
    fc.property(fc.array(endpoint, { maxLength: 20 }), event, (parts, one) => {
      const endpoints = parts.map((part, index) => anEndpoint({ ...part, uid: `uid-${index}` }));
      const under = (kind: Endpoint['kind'], key: string): readonly Endpoint[] =>
        endpoints.filter((each) => each.kind === kind && indexKeys(each).includes(key) && matches(each, one));
      const found = lookupKeys(one).flatMap((key) => under('WebhookSubscription', key));
      const agentKey = agentLookupKey(one);
      if (agentKey !== undefined) found.push(...under('Agent', agentKey));
      expect(found.map(({ uid }) => uid).sort()).toEqual(
        endpoints
          .filter((each) => matches(each, one))
          .map(({ uid }) => uid)
          .sort(),
      );
    }),
    { numRuns: 500 },
  );
});
