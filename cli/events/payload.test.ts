import { describe, expect, it } from 'vitest';

import { eventCatalogue, eventNames } from '../../events/catalogue.ts';
import { eventNameOf, payloadOf } from './payload.ts';

describe('the name of an event', () => {
  it('is one of the catalogue, and the refusal lists them', () => {
    for (const name of eventNames) expect(eventNameOf(name)).toBe(name);
    const cure = (() => {
      try {
        return eventNameOf('Call.Started');
      } catch (error) {
        return (error as { readonly cure?: string }).cure;
      }
    })();
    for (const name of eventNames) expect(cure).toContain(name);
  });

  it('is suggested for a name with the wrong case', () => {
    expect(() => eventNameOf('webhook.test')).toThrow(expect.objectContaining({ cure: expect.stringContaining('Webhook.Test') }));
  });
});

describe('its payload', () => {
  it.each(eventNames)('of %s is an example that fits its description, where none is given', (name) => {
    expect(eventCatalogue[name].payload.safeParse(payloadOf(name, undefined, undefined))).toMatchObject({ success: true });
  });

  it('is about the agent that is named', () => {
    expect(payloadOf('CallHandler.CallEnded', undefined, 'reception')).toMatchObject({ agent_id: 'reception' });
    expect(payloadOf('Webhook.Test', undefined, 'reception')).not.toHaveProperty('agent_id');
  });

  it('is any object that the caller wants', () => {
    expect(payloadOf('Webhook.Test', '{"n": 1, "nested": [null]}', undefined)).toEqual({ n: 1, nested: [null] });
  });

  it.each(['', '{', '[]', '"text"', '1', 'null', 'true', '{"a":1}x'])('refuses %j', (text) => {
    expect(() => payloadOf('Webhook.Test', text, undefined)).toThrow(/--payload is no JSON/);
  });
});
