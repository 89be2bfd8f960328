/** Which writing system a word is in, as far as it decides how the word is stemmed. */

export type Script = 'latin' | 'greek' | 'cyrillic' | 'armenian' | 'hebrew' | 'arabic' | 'bengali' | 'tamil' | 'other';

/** Last code point of each range and what it holds; ascending. Letters below the first range's end are Latin. */
const ranges: readonly (readonly [last: number, script: Script])[] = [
  [0x2ff, 'latin'],
  [0x36f, 'other'],
  [0x3ff, 'greek'],
  [0x52f, 'cyrillic'],
  [0x58f, 'armenian'],
  [0x5ff, 'hebrew'],
  [0x6ff, 'arabic'],
  [0x74f, 'other'],
  [0x77f, 'arabic'],
  [0x89f, 'other'],
  [0x8ff, 'arabic'],
  [0x97f, 'other'],
  [0x9ff, 'bengali'],
  [0xb7f, 'other'],
  [0xbff, 'tamil'],
  [0x1dff, 'other'],
  [0x1eff, 'latin'],
  [0x1fff, 'greek'],
];

/** By the first character that is no ASCII digit: words of more than one script are rare and only have to be treated alike each time. */
export function scriptOf(word: string): Script {
  for (let index = 0; index < word.length; index += 1) {
    const code = word.charCodeAt(index);
    if (code >= 0x30 && code <= 0x39) continue;
    for (const [last, script] of ranges) if (code <= last) return script;
    return 'other';
  }
  return 'other';
}
