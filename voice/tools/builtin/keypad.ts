/** Built-in tools of phone calls: for menus of others, and for numbers that are easier to press than to say. */
import { createArgumentCheck } from '../arguments.ts';
import { failure, NO_MESSAGES, type ToolDefinition } from '../tool-result.ts';
import { formatValue } from '../../../crds/template.ts';

export interface ToolKeypad {
  /** Collects keys. @returns the keys that the user pressed; empty where none came in time */
  collect(options: { readonly count: number; readonly withinMs: number; readonly signal: AbortSignal }): Promise<string>;
  /** Presses keys. @param keys `w` waits half a second */
  press(keys: string, signal: AbortSignal): Promise<void>;
}

/** Longest wait for the keys, in milliseconds: the question is asked meanwhile, and a card is looked for. */
const COLLECT_WITHIN_MS = 30_000;

const COLLECTED = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 1, maximum: 32, description: 'How many digits there are; leave it out if you do not know.' },
  },
  additionalProperties: false,
};

export function createCollectDigits(keypad: ToolKeypad): ToolDefinition {
  return {
    name: 'collect_digits',
    description:
      'Waits for digits that the user presses on the keypad of the telephone. Ask for them in the same answer, and say that # ends the entry if you give no count.',
    parameters: COLLECTED,
    messages: NO_MESSAGES,
    actsOnCall: 'continues',
    // Keys that are pressed later are a turn of the user: nothing would answer the result.
    stopsOnInterruption: true,
    refuse: createArgumentCheck(COLLECTED),
    async run({ count }, signal) {
      const digits = await keypad.collect({ count: typeof count === 'number' ? count : 32, withinMs: COLLECT_WITHIN_MS, signal });
      if (digits === '') return failure('The user has pressed no key.', {}, 'no_keys');
      // The log has no card number.
      return { succeeded: true, forModel: { digits }, detail: `${digits.length} keys` };
    },
  };
}

const SENT = {
  type: 'object',
  properties: {
    digits: {
      type: 'string',
      pattern: '^[0-9*#A-Dw]{1,64}$',
      description: 'Digits, * and #, in the order in which they are pressed. w waits half a second.',
    },
  },
  required: ['digits'],
  additionalProperties: false,
};

export function createSendDigits(keypad: ToolKeypad): ToolDefinition {
  return {
    name: 'send_digits',
    description: 'Presses keys on the keypad of the telephone, for the other side: to choose from the menu of a machine, for example.',
    parameters: SENT,
    messages: NO_MESSAGES,
    actsOnCall: 'continues',
    refuse: createArgumentCheck(SENT),
    async run({ digits }, signal) {
      await keypad.press(formatValue(digits), signal);
      return { succeeded: true, forModel: { pressed: formatValue(digits) }, detail: `${formatValue(digits).length} keys` };
    },
  };
}
