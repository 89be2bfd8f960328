/** Guesses what someone may have meant by a command that there isn't. Pure. */
import { similarName } from '../platform/similar-name.ts';

/** Most commands that are named. */
const MOST = 4;

/**
 * @param words words as they were typed, without the program's name and without flags
 * @param commands commands as they are typed, `keys list`
 * @returns the commands that may have been meant: the same words in another order, one that ends with the first word, or one with a
 * similar name
 */
export function commandsMeant(words: readonly string[], commands: readonly string[]): readonly string[] {
  const [first = ''] = words;
  const wordsOf = (command: string): readonly string[] => command.split(' ');
  const reordered = commands.filter((command) => {
    const own = wordsOf(command);
    return own.length > 1 && own.toSorted().join(' ') === words.slice(0, own.length).toSorted().join(' ');
  });
  if (reordered.length > 0) return reordered;
  const ending = commands.filter((command) => wordsOf(command).at(-1) === first);
  if (ending.length > 0) return ending.slice(0, MOST);
  const similar = similarName(first, [...new Set(commands.flatMap(wordsOf))]);
  return similar === undefined ? [] : commands.filter((command) => wordsOf(command).includes(similar)).slice(0, MOST);
}
