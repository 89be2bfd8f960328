import { describe, expect, it } from 'vitest';

import { agentKind } from '../../crds/agent.ts';
import { instructionsOf, silenceOf, welcomeOf } from './prompt.ts';

const agentOf = (change: Readonly<Record<string, unknown>> = {}) =>
  agentKind.spec.parse({ llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' }, ...change });

describe('the instructions of the model', () => {
  it('is the prompt, filled, what the data mean, and the language', () => {
    const config = { agent: agentOf({ language: 'de-AT' }), systemPrompt: 'You help {{name}}.' };
    const text = instructionsOf({ config, data: { name: 'Ada' }, contexts: ['plan: what the customer pays'], now: 0 });
    expect(text).toMatch(/^You help Ada\.\n\nplan: what the customer pays\n\nThe call began on .*\n\nSpeak .*German.* \(de-AT\)\./);
  });

  it('names an unknown language by its tag', () => {
    const config = { agent: agentOf({ language: 'xx-abcdefgh' }), systemPrompt: null };
    expect(instructionsOf({ config, data: {}, contexts: [], now: 0 })).toMatch(/\n\nSpeak .*\(xx-abcdefgh\)/);
  });

  it.each([
    [undefined, 'The call began on Saturday, 28 February 2026 at 23:30 (UTC).'],
    ['Europe/Vienna', 'The call began on Sunday, 1 March 2026 at 00:30 (Europe/Vienna).'],
  ])('says the time in the time zone %s', (timeZone, line) => {
    const config = { agent: agentOf(timeZone === undefined ? {} : { timeZone }), systemPrompt: null };
    const now = Date.UTC(2026, 1, 28, 23, 30);
    expect(instructionsOf({ config, data: {}, contexts: [], now })).toContain(line);
  });
});

describe('the welcome message', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['{{missing}}', undefined],
    ['Hello {{name}}.', 'Hello Ada.'],
  ])('%s becomes %s', (welcomeMessage, expected) => {
    expect(welcomeOf({ agent: agentOf({ ...(welcomeMessage !== undefined && { welcomeMessage }) }) }, { name: 'Ada' })).toBe(expected);
  });
});

describe('what is asked into a silence', () => {
  const reminderOf = (silenceReminder: object | undefined, language = 'en-US') =>
    silenceOf({ agent: agentOf({ language, call: { silenceReminder } }) }, { name: 'Ada' }).reminders[0]?.text;

  it.each([
    [undefined, 'Are you still there?'],
    [{}, 'Are you still there?'],
    [{ mode: 'Always', message: '' }, 'Are you still there?'],
    [{ message: '{{missing}}' }, 'Are you still there?'],
    [{ message: 'Hello, {{name}}?' }, 'Hello, Ada?'],
    [{ mode: 'Never' }, undefined],
    [{ mode: 'Never', message: 'Hello?' }, undefined],
  ])('with %o it is %s', (silenceReminder, expected) => {
    expect(reminderOf(silenceReminder)).toBe(expected);
  });

  it('comes once, or as often as there are reminders before the end, in their order', () => {
    const of = (call: object) => silenceOf({ agent: agentOf({ call: { endAfterSilence: '40s', ...call } }) }, { name: 'Ada' });
    expect(of({})).toEqual({ endAfterMs: 40_000, reminders: [{ afterMs: 20_000, text: 'Are you still there?' }] });
    const reminders = [
      { after: '40s' },
      { after: '30s', message: 'Last call, {{name}}.' },
      { after: '10s' },
      { after: '20s', message: '{{none}}' },
    ];
    expect(of({ silenceReminder: { message: 'Hm?', reminders } }).reminders).toEqual([
      { afterMs: 10_000, text: 'Hm?' },
      { afterMs: 20_000, text: 'Hm?' },
      { afterMs: 30_000, text: 'Last call, Ada.' },
    ]);
    expect(of({ silenceReminder: { reminders: [] } }).reminders).toEqual([]);
    expect(of({ silenceReminder: { mode: 'Never', reminders } }).reminders).toEqual([]);
  });

  it.each([
    ['de-AT', 'Sind Sie noch da?'],
    ['FR', 'Êtes-vous toujours là ?'],
    ['xx-abcdefgh', 'Are you still there?'],
  ])('in %s it is %s', (language, expected) => {
    expect(reminderOf({}, language)).toBe(expected);
  });
});
