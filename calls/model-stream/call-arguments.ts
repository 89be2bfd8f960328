/**
 * The arguments of a tool call, which run only as the model wrote them. A text that is no JSON object is never completed: half of an amount is
 * another amount. The history and the record hold it as the value of one argument, which no tool takes.
 */
import { isObject, parseJson, type JsonObject } from '../../platform/json.ts';

/** `incomplete`: the arguments end too early. */
export type ArgumentsProblem = 'incomplete' | 'no_json' | 'no_object' | 'too_deep';

/** Most levels of objects and lists: whoever reads far deeper ones runs out of stack. */
const MAX_DEPTH = 100;

const RAW_ARGUMENTS = 'unreadable_arguments';

/** @returns undefined where the arguments are a JSON object */
export function argumentsProblem(text: string): ArgumentsProblem | undefined {
  const value = valueOf(text);
  const extent = new JsonExtent();
  extent.push(decoded(text));
  if (isObject(value)) return extent.deepest > MAX_DEPTH ? 'too_deep' : undefined;
  if (value !== undefined) return 'no_object';
  return extent.open ? 'incomplete' : 'no_json';
}

/** @returns the object as JSON; a text that is none as {@link rawArgumentsIn} finds it */
export function argumentsToPass(text: string): string {
  if (argumentsProblem(text) !== undefined) return rawArguments(text);
  const json = decoded(text);
  return parseJson(json) === null ? '{}' : json;
}

/** Wraps arguments that must not run. */
export const rawArguments = (text: string): string => JSON.stringify({ [RAW_ARGUMENTS]: text });

/** @returns the text of arguments that must not run; undefined for others */
export function rawArgumentsIn(args: JsonObject): string | undefined {
  const raw = args[RAW_ARGUMENTS];
  return typeof raw === 'string' && Object.keys(args).length === 1 ? raw : undefined;
}

const PROBLEMS: Readonly<Record<ArgumentsProblem, string>> = {
  incomplete: 'end before they are complete',
  no_json: 'are no JSON',
  no_object: 'are no JSON object',
  too_deep: `have more than ${MAX_DEPTH} levels`,
};

/** Tells the model the problem. @param raw arguments that must not run; a JSON object belongs to an answer that was cut off */
export const describeProblem = (raw: string): string =>
  `The arguments ${PROBLEMS[argumentsProblem(raw) ?? 'incomplete']}, so nothing was done. Call again with complete arguments.`;

/** Reads the arguments: an empty text is an empty object, and a text that is no JSON is undefined. */
const valueOf = (text: string): unknown => parseJson(decoded(text)) ?? (decoded(text) === 'null' ? {} : undefined);

/** Turns an empty text into an empty object, and unwraps an object that the server has encoded twice. */
function decoded(text: string): string {
  const json = text.trim() || '{}';
  const value = json.startsWith('"') ? parseJson(json) : undefined;
  return typeof value === 'string' ? value.trim() || '{}' : json;
}

/** Follows the brackets of a JSON text that comes in pieces. */
export class JsonExtent {
  #depth = 0;
  #deepest = 0;
  #inString = false;
  #escaped = false;

  push(text: string): void {
    for (const sign of text) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (sign === '\\') this.#escaped = true;
        else if (sign === '"') this.#inString = false;
      } else if (sign === '"') this.#inString = true;
      else if (sign === '{' || sign === '[') {
        this.#depth += 1;
        this.#deepest = Math.max(this.#deepest, this.#depth);
      } else if (sign === '}' || sign === ']') this.#depth -= 1;
    }
  }

  /** Whether more has to come. */
  get open(): boolean {
    return this.#depth > 0 || this.#inString;
  }

  /** Whether an object or a list has ended. */
  get closed(): boolean {
    return this.#deepest > 0 && !this.open;
  }

  get deepest(): number {
    return this.#deepest;
  }
}
