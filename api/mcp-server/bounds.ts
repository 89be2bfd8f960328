/** Bounds how much of an answer a model is given at once. Pure. */
import type { JsonObject } from '../../platform/json.ts';

/** Most characters of JSON in an answer with lists that can be read on: some 20,000 tokens. */
export const COMFORTABLE = 80_000;

/** Most characters of JSON in any other answer. */
export const LONGEST = 400_000;

/** Says where to read on in the long lists of an object. */
export interface ReadOn {
  /** Index of the first item that is not in this answer. */
  readonly offset: number;
  /** Number of items of the longest list. */
  readonly of: number;
}

/**
 * Cuts lists to the room: all of them have the same range, so that one number reads on in all of them.
 * @param offset index of the first item to answer, of each list
 */
export function withinBounds(
  answer: JsonObject,
  { lists, offset, room = COMFORTABLE }: { readonly lists: readonly string[]; readonly offset: number; readonly room?: number },
): JsonObject & { readonly read_on?: ReadOn } {
  const whole = Object.fromEntries(lists.map((name) => [name, Array.isArray(answer[name]) ? (answer[name] as unknown[]) : []]));
  const longest = Math.max(0, ...Object.values(whole).map((items) => items.length));
  let left = room - jsonLength({ ...answer, ...Object.fromEntries(lists.map((name) => [name, []])) });
  let end = offset;
  for (; end < longest; end += 1) {
    left -= Object.values(whole).reduce((sum, items) => sum + (end < items.length ? jsonLength(items[end]) + 1 : 0), 0);
    // At least one item is answered: a reader always gets on.
    if (left < 0 && end > offset) break;
  }
  const cut = Object.entries(whole).flatMap(([name, items]) => (name in answer ? [[name, items.slice(offset, end)] as const] : []));
  return { ...answer, ...Object.fromEntries(cut), ...(end < longest && { read_on: { offset: end, of: longest } }) };
}

/** Returns how many objects to ask for after an answer with `asked` of them was too long. */
export function smallerPage(asked: number, characters: number): number {
  return Math.max(1, Math.min(asked - 1, Math.floor((asked * COMFORTABLE * 0.9) / characters)));
}

function jsonLength(value: unknown): number {
  return JSON.stringify(value).length;
}
