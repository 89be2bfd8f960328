/** Folds Bangla words for comparison: spelling variants that sound alike become one, and common endings are cut off. */

/** Spellings that sound alike and are mixed up in writing: long and short i and u, the three s, the two n and the nasal marks. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/\u0981/g, ''], // ঁ
  [/\u09bc/g, ''], // The dot below distinguishes ড় from ড, and য় from য.
  [/\u09c0/g, '\u09bf'], // ী → ি
  [/\u09c2/g, '\u09c1'], // ূ → ু
  [/[\u09b6\u09b7]/g, '\u09b8'], // শ ষ → স
  [/\u09a3/g, '\u09a8'], // ণ → ন
  [/\u09ce/g, '\u09a4'], // ৎ → ত
  [/\u0999(?:\u09cd)?/g, '\u0982'], // ঙ → ং
  [/\u0988/g, '\u0987'], // ঈ → ই
  [/\u098a/g, '\u0989'], // ঊ → উ
];

/**
 * Words whose forms share no stem, or whose stem would be another word: `আমি` (I) and `আম` (mango), `করা` (to do) and `কর` (tax). The first
 * word of each row stands for all.
 */
const IRREGULAR = [
  'আমি আমার আমাকে আমরা আমাদের আমাদেরকে আমারও',
  'তুমি তোমার তোমাকে তোমরা তোমাদের',
  'আপনি আপনার আপনাকে আপনারা আপনাদের',
  'তিনি তাকে তাঁকে তারা তাঁরা তাদের তাঁদের',
  'কে কারা কাদের',
  'যে যা যার যাকে যারা যাদের',
  'কী কি',
  'কীভাবে কিভাবে',
  'করা করে করি করেন করো করব করবো করবে করবেন করতে করলে করলেন করলাম করছি করছে করছেন করেছি করেছে করেছেন করেছিলাম করেছিলেন করার করুন করান করানো করাতে করাব করাবেন',
  'হওয়া হয় হন হই হব হবে হবেন হতে হলে হলো হয়ে হয়েছে হয়েছেন হচ্ছে হওয়ার',
  'দেওয়া দেয়া দেয় দেই দিই দেন দাও দেব দেবো দিব দেবে দেবেন দিতে দিলে দিলেন দিলাম দিয়ে দিয়েছি দিয়েছে দিয়েছেন দিচ্ছে দিচ্ছি দিচ্ছেন দেওয়ার দেয়ার',
  'নেওয়া নেয়া নেয় নিই নেন নেব নেবো নিব নেবে নেবেন নিতে নিলে নিলেন নিলাম নিয়ে নিয়েছি নিয়েছে নিয়েছেন নিচ্ছে নিন নেওয়ার',
  'যাওয়া যায় যাই যাব যাবো যাবে যাবেন যেতে গেলে গেল গেলাম গেলেন গিয়ে গেছে গেছি গেছেন যাচ্ছে যাচ্ছি যাওয়ার',
  'পাওয়া পায় পাই পাব পাবো পাবে পাবেন পেতে পেলে পেলাম পেলেন পেয়ে পেয়েছি পেয়েছে পেয়েছেন পাচ্ছি পাচ্ছে পাচ্ছেন পাওয়ার',
  'খাওয়া খায় খাই খাব খাবো খাবে খাবেন খেতে খেয়ে খেয়েছি খেয়েছে খাচ্ছে খাচ্ছি খাওয়ার খাওয়ানো খাওয়াব খাওয়াতে',
  'চাওয়া চায় চাই চান চাইলে চাইতে চাচ্ছি চাওয়ার',
  'পারা পারি পারে পারেন পারব পারবো পারবে পারবেন পারলে পারছি পারছে পারছেন',
  'আসা আসে আসি আসেন আসব আসবে আসবেন আসতে এলে এসে এসেছে এসেছি আসছে আসার',
  'কেনা কিনি কেনে কেনেন কিনব কিনবে কিনবেন কিনতে কিনলে কিনেছি কিনেছে কিনেছেন কিনেছিলাম কিনুন কেনার',
  'লেখা লিখি লেখে লেখেন লিখব লিখবে লিখবেন লিখতে লিখলে লিখে লিখেছি লিখেছে লিখেছেন লিখুন লেখার',
  'খোলা খুলি খোলে খোলেন খুলব খুলবে খুলবেন খুলতে খুললে খুলে খুলেছি খুলেছে খুলুন খোলার',
  'তোলা তুলি তোলে তোলেন তুলব তুলবে তুলবেন তুলতে তুললে তুলে তুলেছি তুলেছে তুলুন তোলার',
].map((forms) => forms.split(' '));

/** Endings in the folded spelling above (য় is written য), longest first. */
const endings = [
  // Nouns take these: plural, article, case.
  'গুলোকে গুলিকে গুলোতে গুলিতে গুলোর গুলির গুলো গুলি দেরকে দের টিকে টাকে টিতে টাতে টির টার টি টা খানা খানি সমুহের সমুহ বৃন্দ যের ের কে তে রা েরা যে র ে',
  // Verbs take these.
  'িযেছিলেন িযেছিলাম িযেছিল িযেছেন িযেছি িযেছে েছিলেন েছিলাম েছিল েছেন েছি েছে িতেছে চ্ছেন চ্ছে চ্ছি ছিলেন ছিলাম ছিল ছেন ছি ছে বেন বেনা বো বে লেন লাম লে তেন তাম ুন েন িযে ানো ানোর ার া ি',
]
  .flatMap((list) => list.split(' '))
  .toSorted((left, right) => right.length - left.length);

const EMPHASIS = /(?:ই|ও)$/;
const VOWEL_AT_END = /[\u09be-\u09cc\u0985-\u0994]$/;
const SIGN = /[\u09be-\u09cc]/g;

/** Letters that have to remain, not counting vowel signs: shorter stems have too many meanings. */
const LEAST_LETTERS = 2;

/** Maps each folded form to its folded word. */
const lemmas: ReadonlyMap<string, string> = new Map(
  IRREGULAR.flatMap(([lemma = '', ...forms]) =>
    [lemma, ...forms].map((form) => [spelling(form.normalize('NFC')), spelling(lemma.normalize('NFC'))] as const),
  ),
);

/** @param word a folded word in Bangla script */
export function banglaTerm(word: string): string {
  let folded = spelling(word);
  const lemma = lemmas.get(folded);
  if (lemma !== undefined) return lemma;
  const bare = folded.replace(EMPHASIS, '');
  if (letters(bare) >= LEAST_LETTERS) folded = bare;
  // This repeats until nothing is left to cut, so that a word and its own inflections end alike.
  for (;;) {
    const stem = withoutEnding(folded);
    if (stem === undefined) return folded;
    folded = stem;
  }
}

function withoutEnding(word: string): string | undefined {
  for (const ending of endings) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    // The letters behind a hasanta belong to a conjunct; a lone র is an ending behind a vowel only (পানির, but not শহর).
    if (letters(stem) < LEAST_LETTERS || stem.endsWith('\u09cd') || (ending === 'র' && !VOWEL_AT_END.test(stem))) continue;
    return stem;
  }
  return undefined;
}

function spelling(word: string): string {
  let folded = word;
  for (const [pattern, replacement] of ALIKE) folded = folded.replaceAll(pattern, replacement);
  return folded;
}

function letters(word: string): number {
  return word.replaceAll(SIGN, '').length;
}
