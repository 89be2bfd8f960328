/** How much of an answer a model is given at once. Pure. */
import type { JsonObject } from '../../platform/json.ts';

/** Characters of JSON of what can be read on: some 20,000 tokens. */
export const COMFORTABLE = 80_000;

/** Characters of JSON of what can't. */
export const LONGEST = 400_000;

/** Where to read on in the long lists of an object. */
export interface ReadOn {
  /** The first place that is not in this answer. */
  readonly offset: number;
  /** Items of the longest of the lists. */
  readonly of: number;
}

/**
 * Cuts lists to what fits: all from the same place to the same place, so that one number reads on in all of them.
 * @param offset the first item to be answered, of each list
 */
export function withinBounds(
  answer: JsonObject,
  { lists, offset, room = COMFORTABLE }: { readonly lists: readonly string[]; readonly offset: number; readonly room?: number },
): JsonObject & { readonly read_on?: ReadOn } {
  const whole = Object.fromEntries(lists.map((name) => [name, Array.isArray(answer[name]) ? (answer[name] as unknown[]) : []]));
  const longest = Math.max(0, ...Object.values(whole).map((items) => items.length));
  let left = room - lengthOf({ ...answer, ...Object.fromEntries(lists.map((name) => [name, []])) });
  let end = offset;
  for (; end < longest; end += 1) {
    left -= Object.values(whole).reduce((sum, items) => sum + (end < items.length ? lengthOf(items[end]) + 1 : 0), 0);
    // One at least: who reads on gets on.
    if (left < 0 && end > offset) break;
  }
  const cut = Object.entries(whole).flatMap(([name, items]) => (name in answer ? [[name, items.slice(offset, end)] as const] : []));
  return { ...answer, ...Object.fromEntries(cut), ...(end < longest && { read_on: { offset: end, of: longest } }) };
}

/** How many objects to ask for instead of `asked`, of which there was too much. */
export function smallerPage(asked: number, characters: number): number {
  return Math.max(1, Math.min(asked - 1, Math.floor((asked * COMFORTABLE * 0.9) / characters)));
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length;
}
