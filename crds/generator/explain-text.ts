/** Adds default, range and form to what `kubectl explain` says of a field, read from the schema so that they can't drift. */
import { DECIMAL, DURATION, URL_FORM } from '../schema.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Words say these forms better than their pattern. */
const KNOWN_FORMS: Readonly<Record<string, string>> = {
  [DURATION.source]: 'a duration such as 500ms, 10s or 1h30m',
  [DECIMAL.source]: 'a decimal number in quotes such as "0.7"',
  [URL_FORM.source]: 'an http:// or https:// address',
};

/** Adds default, range and form to the end of each field's description. The root itself stays as it is. */
export function withExplainText(schema: StructuralSchema): StructuralSchema {
  return {
    ...schema,
    ...(schema.properties !== undefined && {
      properties: Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, describeField(field)])),
    }),
    ...(schema.items !== undefined && { items: withExplainText(schema.items) }),
    ...(schema.additionalProperties !== undefined && { additionalProperties: withExplainText(schema.additionalProperties) }),
  };
}

function describeField(field: StructuralSchema): StructuralSchema {
  const description = [field.description, ...explainText(field)].filter((part) => part !== undefined).join(' ');
  return { ...withExplainText(field), ...(description !== '' && { description }) };
}

/** Returns the meaning alone, for readers who see default, range and form elsewhere. */
export function meaningOf(field: StructuralSchema): string {
  const text = explainText(field).join(' ');
  const { description = '' } = field;
  return text !== '' && description.endsWith(text) ? description.slice(0, -text.length).trimEnd() : description;
}

/** Returns one sentence each for default, range and form, where the schema has them. */
export function explainText(field: StructuralSchema): readonly string[] {
  return [defaultText(field), rangeText(field), formText(field)].filter((part) => part !== undefined);
}

function defaultText({ default: value }: StructuralSchema): string | undefined {
  if (value === undefined || typeof value === 'object') return undefined;
  return `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`;
}

function rangeText(field: StructuralSchema): string | undefined {
  const duration = durationRange(field);
  const parts = [
    duration ?? numberRange(field),
    // The length of a duration says nothing to a reader.
    duration === undefined ? countRange(field.minLength, field.maxLength, 'character', 'characters') : undefined,
    countRange(field.minItems, field.maxItems, 'item', 'items'),
    countRange(field.minProperties, field.maxProperties, 'entry', 'entries'),
    field.items === undefined ? undefined : eachRange(field.items),
    field.additionalProperties === undefined ? undefined : eachRange(field.additionalProperties),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `Range: ${parts.join(', ')}.`;
}

function eachRange(item: StructuralSchema): string | undefined {
  const range = countRange(item.minLength, item.maxLength, 'character', 'characters');
  return range === undefined ? undefined : `each ${range}`;
}

/** Reads a duration's bounds from the message of their CEL rule. */
function durationRange(field: StructuralSchema): string | undefined {
  const messages = (field['x-kubernetes-validations'] ?? []).map(({ message }) => /^must be between (\S+) and (\S+)$/.exec(message));
  const [, from, to] = messages.find((match) => match !== null) ?? [];
  return from === undefined || to === undefined ? undefined : `${from} to ${to}`;
}

function numberRange({ minimum, maximum }: StructuralSchema): string | undefined {
  if (minimum === undefined) return maximum === undefined ? undefined : `at most ${maximum}`;
  return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`;
}

function countRange(least: number | undefined, most: number | undefined, one: string, many: string): string | undefined {
  if (most === undefined) return undefined;
  const noun = most === 1 ? one : many;
  return least === undefined ? `at most ${most} ${noun}` : `${least} to ${most} ${noun}`;
}

function formText({ pattern, format, items }: StructuralSchema): string | undefined {
  if (format === 'date-time') return 'Form: a time such as 2026-01-31T12:00:00Z (RFC 3339).';
  const form = pattern ?? items?.pattern;
  if (form === undefined) return undefined;
  return `Form: ${KNOWN_FORMS[form] ?? form}.`;
}
