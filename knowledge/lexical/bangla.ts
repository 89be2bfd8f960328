/** Bangla words as they are compared: spelling variants that sound alike are one, and common endings are cut off. */

/** Spellings that are heard alike and are mixed up in writing: long and short i and u, the three s, the two n and the nasal marks. */
const alike: readonly (readonly [RegExp, string])[] = [
  [/\u0981/g, ''], // ঁ
  [/\u09bc/g, ''], // the dot below: ড় and ড, য় and য
  [/\u09c0/g, '\u09bf'], // ী → ি
  [/\u09c2/g, '\u09c1'], // ূ → ু
  [/[\u09b6\u09b7]/g, '\u09b8'], // শ ষ → স
  [/\u09a3/g, '\u09a8'], // ণ → ন
  [/\u09ce/g, '\u09a4'], // ৎ → ত
  [/\u0999(?:\u09cd)?/g, '\u0982'], // ঙ → ং
  [/\u0988/g, '\u0987'], // ঈ → ই
  [/\u098a/g, '\u0989'], // ঊ → উ
];

/** Endings in the folded spelling above (য় is written য), longest first. */
const endings = [
  // of nouns: plural, article, case
  'গুলোকে',
  'গুলিকে',
  'গুলোতে',
  'গুলিতে',
  'গুলোর',
  'গুলির',
  'গুলো',
  'গুলি',
  'দেরকে',
  'দের',
  'টিকে',
  'টাকে',
  'টিতে',
  'টাতে',
  'টির',
  'টার',
  'টি',
  'টা',
  'খানা',
  'খানি',
  'সমুহের',
  'সমুহ',
  'বৃন্দ',
  'যের',
  'ের',
  'কে',
  'তে',
  'রা',
  'েরা',
  'যে',
  'র',
  'ে',
  // of verbs
  'িযেছিলেন',
  'িযেছিলাম',
  'িযেছিল',
  'িযেছেন',
  'িযেছি',
  'িযেছে',
  'েছিলেন',
  'েছিলাম',
  'েছিল',
  'েছেন',
  'েছি',
  'েছে',
  'িতেছে',
  'চ্ছেন',
  'চ্ছে',
  'চ্ছি',
  'ছিলেন',
  'ছিলাম',
  'ছিল',
  'ছেন',
  'ছি',
  'ছে',
  'বেন',
  'বেনা',
  'বো',
  'বে',
  'ব',
  'লেন',
  'লাম',
  'লে',
  'ল',
  'তেন',
  'তাম',
  'ুন',
  'েন',
  'িযে',
  'ানো',
  'ানোর',
  'ার',
  'া',
  'ি',
].toSorted((left, right) => right.length - left.length);

const emphasis = /(?:ই|ও)$/;
const sign = /[\u09be-\u09cc]/g;

/** At least this much has to remain, not counting vowel signs: shorter stems mean too many things. */
const leastLetters = 2;

/** @param word folded, in Bangla script */
export function banglaTerm(word: string): string {
  let folded = word;
  for (const [pattern, replacement] of alike) folded = folded.replaceAll(pattern, replacement);
  const bare = folded.replace(emphasis, '');
  if (letters(bare) >= leastLetters) folded = bare;
  // At most two endings: that of the noun or verb and the one behind it.
  for (let round = 0; round < 2; round += 1) {
    const ending = endings.find((candidate) => folded.endsWith(candidate) && letters(folded.slice(0, -candidate.length)) >= leastLetters);
    if (ending === undefined) break;
    folded = folded.slice(0, -ending.length);
  }
  return folded;
}

function letters(word: string): number {
  return word.replaceAll(sign, '').length;
}
