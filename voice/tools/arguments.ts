/** Checks the arguments of the model against the JSON Schema of the tool. */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { isObject, parseJson } from '../../platform/json.ts';
import { withinTime } from '../../platform/time-limit.ts';
import type { Arguments } from './tool-result.ts';

/** Options of the check, the same as when the schema was stored: unknown keywords and formats are for the model alone. */
const OPTIONS: Options = { strict: false, logger: false, unicodeRegExp: false, validateSchema: false, meta: false, allErrors: true };

const DRAFT_07 = 'http://json-schema.org/draft-07/schema';

const MAX_COMPLAINTS = 10;

/** Longest check, in milliseconds: it blocks the call, and a pattern or nested references may take years. */
const CHECK_TIMEOUT_MS = 500;

export interface ArgumentCheck {
  /** Returns the problems, in words for the model; undefined where all fits. */
  (args: Arguments): string | undefined;
}

/** Creates the check of a schema. @param given names whose values the model doesn't decide: it cannot correct them */
export function createArgumentCheck(schema: Readonly<Record<string, unknown>>, given: ReadonlySet<string> = new Set()): ArgumentCheck {
  // The schema is compiled when first needed: most tools of a call are never called.
  let compiled: { readonly validate: ValidateFunction | undefined } | undefined;
  return (args) => {
    const errors = withinTime(CHECK_TIMEOUT_MS, () => {
      const { validate } = (compiled ??= { validate: compile(schema) });
      // A schema that can't be compiled is refused when it is stored; an older one is not checked.
      return validate === undefined || validate(args) ? [] : (validate.errors ?? []);
    });
    // The check is not tried again after a timeout: the endpoint checks its arguments itself.
    if (errors === undefined) compiled = { validate: undefined };
    const complaints = [...new Set((errors ?? []).filter((error) => !isAbout(error, given)).map(inWords))];
    if (complaints.length === 0) return undefined;
    return `The arguments don't fit, so nothing was done: ${complaints.slice(0, MAX_COMPLAINTS).join('; ')}. Correct them and call again.`;
  };
}

/**
 * Mends values that models write where the schema has no such type: `null` for what they leave out, and a number or a boolean as a text. Nothing else is
 * changed, and nothing that would lose anything.
 *
 * @param args that don't fit. @returns others, to be checked again; the same ones where there is nothing to change
 */
export function fitArguments(schema: Readonly<Record<string, unknown>>, args: Arguments): Arguments {
  const errors = withinTime(CHECK_TIMEOUT_MS, () => {
    const validate = compile(schema);
    return validate === undefined || validate(args) ? [] : (validate.errors ?? []);
  });
  return (errors ?? []).reduce((fitting, { instancePath, keyword, params }) => {
    const { type } = params as { readonly type?: string | readonly string[] };
    const path = instancePath.split('/').slice(1).map(unescaped);
    return VALUE_KEYWORDS.has(keyword) && path.length > 0 ? (changedAt(fitting, path, [type ?? []].flat()) as Arguments) : fitting;
  }, args);
}

/** Keywords that complain of a value, and not of one that is missing or too much. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set(['type', 'enum', 'const']);

/** Changes one value. @param types that the value may have */
function changedAt(value: unknown, [name = '', ...rest]: readonly string[], types: readonly string[]): unknown {
  if (Array.isArray(value)) {
    const items = value as readonly unknown[];
    return items.map((item, index) =>
      String(index) !== name ? item : rest.length > 0 ? changedAt(item, rest, types) : asTyped(item, types),
    );
  }
  if (!isObject(value) || !Object.hasOwn(value, name)) return value;
  const { [name]: inner, ...others } = value;
  if (rest.length > 0) return { ...value, [name]: changedAt(inner, rest, types) };
  return inner === null ? others : { ...value, [name]: asTyped(inner, types) };
}

function asTyped(value: unknown, types: readonly string[]): unknown {
  if (typeof value !== 'string') return value;
  const typed = parseJson(value);
  const fits =
    typeof typed === 'boolean'
      ? types.includes('boolean')
      : typeof typed === 'number' && types.some((type) => type === 'integer' || type === 'number');
  return fits && String(typed) === value ? typed : value;
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function compile({ $schema: named, ...schema }: Readonly<Record<string, unknown>>): ValidateFunction | undefined {
  const compilers = [() => new Ajv2020(OPTIONS), () => new Ajv(OPTIONS)];
  if (typeof named === 'string' && named.startsWith(DRAFT_07)) compilers.reverse();
  for (const compiler of compilers) {
    try {
      return compiler().compile({ ...schema, $async: false });
    } catch {
      continue;
    }
  }
  return undefined;
}

function isAbout({ instancePath, params }: ErrorObject, names: ReadonlySet<string>): boolean {
  const [, first] = instancePath.split('/');
  const about = first ?? (params as { readonly missingProperty?: unknown })['missingProperty'];
  return typeof about === 'string' && names.has(unescaped(about));
}

function inWords({ instancePath, keyword, message = 'does not fit', params }: ErrorObject): string {
  const where = instancePath === '' ? 'the arguments' : instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'enum')
    return `${where} must be one of ${JSON.stringify((params as { readonly allowedValues?: unknown }).allowedValues)}`;
  if (keyword === 'additionalProperties') {
    return `${where} ${message} (${String((params as { readonly additionalProperty?: unknown }).additionalProperty)})`;
  }
  return `${where} ${message}`;
}
