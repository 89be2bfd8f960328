/** Says what is wrong with a value by its schema, in words for whoever writes YAML. */
import type { z } from 'zod';

import { cutText } from '../../platform/cut-text.ts';
import { similarName } from '../../platform/similar-name.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
  record: 'a map of fields',
};
const MAX_SHOWN = 100;

/** @param beside the fields of the object that the value is in: where they tell which value is missing, the message says it */
export function wordIssue(issue: z.core.$ZodIssue, beside: object = {}): string {
  const { input, message } = issue;
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined ? 'is required' : typeProblem(issue.expected, input);
    case 'invalid_value': {
      const values = issue.values.map(String);
      if (input === undefined) return missingChoice(String(issue.path.at(-1)), values, Object.keys(beside));
      const similar = typeof input === 'string' ? similarName(input, values) : undefined;
      return `must be one of ${values.join(', ')} and is ${shown(input)}${similar === undefined ? '' : `: did you mean ${similar}?`}`;
    }
    case 'too_small':
      return `${boundProblem('at least', issue.minimum, issue.origin)}${issue.minimum === 1 && issue.origin === 'array' ? ': add one, or leave the field out' : ''}`;
    case 'too_big':
      return boundProblem('at most', issue.maximum, issue.origin);
    case 'invalid_format':
      return 'pattern' in issue && issue.pattern !== undefined ? `must match ${issue.pattern} and is ${shown(input)}` : message;
    default:
      return message;
  }
}

/** The `type` of a union bears the name of the member that is set, but for its case. */
function missingChoice(field: string, values: readonly string[], beside: readonly string[]): string {
  const meant = values.filter((value) => beside.some((name) => name.toLowerCase() === value.toLowerCase()));
  return `is required: write ${meant.length === 1 ? `${field}: ${meant[0]}` : `one of ${values.join(', ')}`}`;
}

const UNITS: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'entries',
  set: 'entries',
  map: 'entries',
  object: 'entries',
};

function boundProblem(atMost: 'at least' | 'at most', bound: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${atMost} ${bound}` : `must have ${atMost} ${bound} ${unit}`;
}

function typeProblem(expected: string, input: unknown): string {
  const is = `must be ${TYPES[expected] ?? expected} and is ${shown(input)}`;
  if (expected !== 'string') return is;
  if (typeof input === 'boolean') return `${is}, as YAML reads yes, no, on, off, y and n, too: put it in quotes`;
  return typeof input === 'number' ? `${is}: put it in quotes` : is;
}

const shown = (value: unknown): string => cutText(JSON.stringify(value) ?? 'nothing', MAX_SHOWN);
