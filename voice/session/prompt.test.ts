import { describe, expect, it } from 'vitest';

import { agentKind } from '../../crds/agent.ts';
import { instructionsOf, welcomeOf } from './prompt.ts';

const agentOf = (change: Readonly<Record<string, unknown>> = {}) =>
  agentKind.spec.parse({ llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' }, ...change });

describe('what the model is told', () => {
  it('is the prompt, filled, what the data mean, and the language', () => {
    const config = { agent: agentOf({ language: 'de-AT' }), systemPrompt: 'You help {{name}}.' };
    const text = instructionsOf({ config, data: { name: 'Ada' }, contexts: ['plan: what the customer pays'] });
    expect(text).toMatch(/^You help Ada\.\n\nplan: what the customer pays\n\nSpeak .*German.* \(de-AT\)\./);
  });

  it('names a language that nobody knows as it is written', () => {
    const config = { agent: agentOf({ language: 'xx-abcdefgh' }), systemPrompt: null };
    expect(instructionsOf({ config, data: {}, contexts: [] })).toMatch(/^Speak .*\(xx-abcdefgh\)/);
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
