/** Built-in tools of phone calls: for menus of others, and for numbers that are easier to press than to say. */
import { createArgumentCheck } from '../arguments.ts';
import type { SensitiveKeys } from '../sensitive-keys.ts';
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

/** Tools that get keys which nobody else may see. */
export interface SensitiveCollection {
  /** Names by which the model calls the tools. */
  readonly tools: readonly string[];
  readonly keys: Pick<SensitiveKeys, 'keep'>;
  /** Called when such keys are about to be pressed. @returns is called when no more are */
  readonly onCollect: () => () => void;
}

export function createCollectDigits(keypad: ToolKeypad, sensitive?: SensitiveCollection): ToolDefinition {
  const parameters = sensitive === undefined ? COLLECTED : withTools(sensitive.tools);
  return {
    name: 'collect_digits',
    description: [
      'Waits for digits that the user presses on the keypad of the telephone. Ask for them in the same answer, and say that # ends the entry if you give no count.',
      ...(sensitive === undefined
        ? []
        : [
            'Digits that a tool of `for` wants stay hidden: the result is a reference to them, such as <keys-1>. Pass it to that tool in their place.',
          ]),
    ].join(' '),
    parameters,
    messages: NO_MESSAGES,
    actsOnCall: 'continues',
    // Keys that are pressed later are a turn of the user: nothing would answer the result.
    stopsOnInterruption: true,
    refuse: createArgumentCheck(parameters),
    async run({ count, for: tool }, signal) {
      const hidden = tool === undefined ? undefined : sensitive;
      const collected = hidden?.onCollect();
      const digits = await keypad
        .collect({ count: typeof count === 'number' ? count : 32, withinMs: COLLECT_WITHIN_MS, signal })
        .finally(() => collected?.());
      if (digits === '') return failure('The user has pressed no key.', {}, 'no_keys');
      // The log has no card number.
      const forModel = hidden === undefined ? { digits } : { digits: hidden.keys.keep(digits), count: digits.length };
      return { succeeded: true, forModel, detail: `${digits.length} keys` };
    },
  };
}

const withTools = (tools: readonly string[]) => ({
  ...COLLECTED,
  properties: {
    ...COLLECTED.properties,
    for: { type: 'string', enum: tools, description: 'The tool that the digits are for; leave it out for all others.' },
  },
});

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
