import { beforeEach, expect, it } from 'vitest';

import { createArgumentCheck } from './arguments.ts';
import { createCollectDigits } from './builtin/keypad.ts';
import { SensitiveKeys } from './sensitive-keys.ts';
import type { Arguments, ToolDefinition } from './tool-result.ts';

const CARD = '4242424242424242';
const parameters = { type: 'object', properties: { card: { type: 'string', pattern: '^[0-9]{16}$' } }, required: ['card'] };
const { signal } = new AbortController();

let keys: SensitiveKeys;
let got: Arguments[];
let collecting: string[];

beforeEach(() => {
  keys = new SensitiveKeys();
  got = [];
  collecting = [];
});

const collectDigits = (pressed: string): ToolDefinition =>
  createCollectDigits(
    { collect: async () => pressed, press: async () => undefined },
    {
      tools: ['charge'],
      keys,
      onCollect: () => {
        collecting.push('begins');
        return () => collecting.push('ends');
      },
    },
  );

const charge = (): ToolDefinition =>
  keys.protect({
    name: 'charge',
    description: '',
    parameters,
    messages: {},
    sensitive: true,
    refuse: createArgumentCheck(parameters),
    async run(args) {
      got.push(args);
      return { succeeded: true, forModel: { charged: args['card'] as string, amounts: [Number(CARD), 12] } };
    },
  });

it('gives the tool the keys, and the model a reference to them', async () => {
  const collected = await collectDigits(CARD).run({ for: 'charge', count: 16 }, signal);
  expect(collected.forModel).toEqual({ digits: '<keys-1>', count: 16 });
  expect(collecting).toEqual(['begins', 'ends']);
  const tool = charge();
  expect(tool.refuse({ card: '<keys-1>' })).toBeUndefined();
  const { forModel } = await tool.run({ card: '<keys-1>' }, signal);
  expect(got).toEqual([{ card: CARD }]);
  expect(forModel).toEqual({ charged: '<keys-1>', amounts: ['<keys-1>', 12] });
});

it('does not show the model what is wrong with the keys', async () => {
  await collectDigits('4242').run({ for: 'charge' }, signal);
  const refused = charge().refuse({ card: '<keys-1>' });
  expect(refused).toBeDefined();
  expect(refused).not.toContain('4242');
});

it('shows the model the keys that no sensitive tool wants', async () => {
  const { forModel } = await collectDigits('2').run({}, signal);
  expect(forModel).toEqual({ digits: '2' });
  expect(collecting).toEqual([]);
});

it('knows only sensitive tools', () => {
  expect(collectDigits('2').refuse({ for: 'look_up' })).toContain('charge');
  expect(createCollectDigits({ collect: async () => '', press: async () => undefined }).parameters).not.toHaveProperty('properties.for');
});
