import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import type { ChatMessage } from '../analysis/questions.ts';
import { ModelFinder } from './model-finder.ts';

function finderOf(answer: (messages: readonly ChatMessage[]) => Promise<string> | string) {
  const asked: unknown[] = [];
  const clock = new FakeClock();
  const finder = new ModelFinder({
    kinds: ['Name', 'Address'],
    models: {
      async ask({ messages }) {
        asked.push(JSON.parse(messages[1]!.content));
        return answer(messages);
      },
    },
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
  });
  return { finder, asked, clock };
}

const ADA = { kind: 'Name', text: 'Ada' };

it('takes what the model names of the kinds that are wanted', async () => {
  const { finder } = finderOf((messages) => {
    expect(messages[0]!.content).toContain('Address: postal addresses');
    expect(messages[0]!.content).not.toContain('Card');
    return `\`\`\`json\n${JSON.stringify({ found: [ADA, { kind: 'Card', text: '42' }, { kind: 'Mood', text: 'calm' }] })}\n\`\`\``;
  });
  expect(await finder.find(['I am Ada.'])).toEqual([{ kind: 'Name', value: 'Ada' }]);
});

it('asks about each text once, also while it is being asked about', async () => {
  const { finder, asked } = finderOf(() => JSON.stringify({ found: [ADA] }));
  const both = await Promise.all([finder.find(['a', 'b']), finder.find(['b'])]);
  expect(both).toEqual([[{ kind: 'Name', value: 'Ada' }], [{ kind: 'Name', value: 'Ada' }]]);
  await finder.find(['a', 'c']);
  expect(asked).toEqual([['a', 'b'], ['c']]);
});

it('cuts long texts for several requests', async () => {
  const { finder, asked } = finderOf(() => JSON.stringify({ found: [] }));
  await finder.find(['a', 'b'.repeat(30_000)]);
  expect(asked.flat().join('')).toBe(`a${'b'.repeat(30_000)}`);
  expect(asked.length).toBeGreaterThan(2);
});

it.each<[string, () => Promise<string> | string]>([
  ['no JSON', () => 'None.'],
  ['another shape', () => '{"found": "Ada"}'],
  ['a failure', () => Promise.reject(new Error('away'))],
])('knows nothing where the model gives %s', async (_, answer) => {
  expect(await finderOf(answer).finder.find(['I am Ada.'])).toBeUndefined();
});

it('asks again about a text that it has no answer for', async () => {
  let away = true;
  const { finder } = finderOf(async () => {
    if (away) throw new Error('away');
    return JSON.stringify({ found: [ADA] });
  });
  expect(await finder.find(['I am Ada.'])).toBeUndefined();
  away = false;
  expect(await finder.find(['I am Ada.'])).toEqual([{ kind: 'Name', value: 'Ada' }]);
});

it('knows nothing where the model gives no answer in time', async () => {
  const { finder, clock } = finderOf(() => new Promise<string>(() => undefined));
  const found = finder.find(['I am Ada.']);
  await settle();
  clock.tick(20_000);
  expect(await found).toBeUndefined();
});
