/** Whether what the model says fits the JSON Schema that it was given. */
import { createContext, Script } from 'node:vm';

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import type { Arguments } from './tool-result.ts';

/** As the schema was judged when it was stored: unknown keywords and formats are the model's business. */
const OPTIONS: Options = { strict: false, logger: false, unicodeRegExp: false, validateSchema: false, meta: false, allErrors: true };

const DRAFT_07 = 'http://json-schema.org/draft-07/schema';

/** Most complaints that the model gets at once. */
const MAX_COMPLAINTS = 10;

/** Longest check, in milliseconds: the call stands still meanwhile, and a pattern or nested references may take years. */
const CHECK_TIMEOUT_MS = 500;

export interface ArgumentCheck {
  /** @returns what is wrong, in words for the model; undefined where all fits */
  (args: Arguments): string | undefined;
}

/**
 * @param given names whose values the model doesn't decide: it can't be told to correct them
 */
export function createArgumentCheck(schema: Readonly<Record<string, unknown>>, given: ReadonlySet<string> = new Set()): ArgumentCheck {
  // Most tools of a call are never called: what it costs to understand a schema is paid when it is needed.
  let compiled: { readonly validate: ValidateFunction | undefined } | undefined;
  return (args) => {
    const errors = within(CHECK_TIMEOUT_MS, () => {
      const { validate } = (compiled ??= { validate: compile(schema) });
      // One that can't be compiled was refused when it was stored; what is left of it binds nobody.
      return validate === undefined || validate(args) ? [] : (validate.errors ?? []);
    });
    // What takes too long once is not tried again: the endpoint checks its arguments itself.
    if (errors === undefined) compiled = { validate: undefined };
    const complaints = [...new Set((errors ?? []).filter((error) => !isAbout(error, given)).map(inWords))];
    if (complaints.length === 0) return undefined;
    return `The arguments don't fit, so nothing was done: ${complaints.slice(0, MAX_COMPLAINTS).join('; ')}. Correct them and call again.`;
  };
}

/** Node ends a script that runs too long, and with it what the script has called, wherever that stands. @returns undefined when `work` takes longer, or fails */
function within<T>(ms: number, work: () => T): T | undefined {
  const context = createContext({ work });
  try {
    return new Script('work()').runInContext(context, { timeout: ms }) as T;
  } catch {
    return undefined;
  }
}

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
  return typeof about === 'string' && names.has(about.replaceAll('~1', '/').replaceAll('~0', '~'));
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
