import { expect, it } from 'vitest';

import { messagesText, textPart, valueText, wantsContent } from './content.ts';

it('is off unless it is switched on for spans', () => {
  const wanted = (value?: string): boolean => wantsContent({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: value });
  expect(['true', ' TRUE ', 'span_only', 'span_and_event'].map(wanted)).toEqual([true, true, true, true]);
  expect([undefined, '', 'false', 'event_only', 'no_content', '1'].map(wanted)).toEqual([false, false, false, false, false, false]);
});

it('masks secrets, in values and in JSON within texts', () => {
  expect(JSON.parse(valueText({ order: 1, password: 'a', nested: [{ api_key: 'b' }] }))).toEqual({
    order: 1,
    password: '********',
    nested: [{ api_key: '********' }],
  });
  expect(valueText(String.raw`{"token": "a\"b", "order":"c"}`)).toBe(String.raw`"{\"token\":\"********\", \"order\":\"c\"}"`);
  expect(valueText(undefined)).toBe('null');
});

it('has a bound: texts are cut, and the oldest messages left out', () => {
  const messages = Array.from({ length: 20 }, (_, n) => ({ role: 'user', parts: [textPart(`${n} ${'x'.repeat(9_000)}`)] }));
  const text = messagesText(messages);
  expect(text.length).toBeLessThan(33_000);
  const left = JSON.parse(text) as readonly { readonly parts: readonly { readonly content: string }[] }[];
  expect(left).toHaveLength(3);
  expect(left.at(-1)?.parts[0]?.content).toMatch(/^19 x{7997}…$/);
  expect(valueText('y'.repeat(100_000)).length).toBeLessThan(9_000);
  expect((JSON.parse(valueText(Array.from({ length: 9 }, () => 'z'.repeat(8_000)))) as string).length).toBeLessThan(33_000);
});
