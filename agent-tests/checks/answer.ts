/** Checks what the agent says in a turn. */
import { expectedPattern } from '../../crds/agent-test-problems.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { withinTime } from '../../platform/time-limit.ts';
import type { CheckResult } from '../result.ts';
import { checkOf, json, shown } from './check.ts';
import { detectorCode, languageOf } from './language.ts';
import { countWords, saysText } from './words.ts';

type Expectation = NonNullable<NonNullable<AgentTestSpec['conversation']>[number]['expect']>[number];

/** Longest search for a pattern, in milliseconds: some take years, and a busy machine takes long for one that is fine. */
const MATCH_TIMEOUT_MS = 2_000;
export const TOO_SLOW = `the search for the pattern took more than ${MATCH_TIMEOUT_MS / 1_000} s: write one without nested repetitions`;

export async function answerChecks(
  answer: NonNullable<Expectation['answer']>,
  said: string,
  path: string,
): Promise<readonly CheckResult[]> {
  const { contains = [], notContains = [], matches, maxWords, language } = answer;
  const kind = 'answer';
  const actual = shown(said);
  const words = countWords(said);
  return [
    ...contains.map((text, index) =>
      checkOf({ path: `${path}.contains[${index}]`, kind, met: saysText(said, text), expected: `an answer with ${json(text)}`, actual }),
    ),
    ...notContains.map((text, index) =>
      checkOf({
        path: `${path}.notContains[${index}]`,
        kind,
        met: !saysText(said, text),
        expected: `an answer without ${json(text)}`,
        actual,
      }),
    ),
    ...(matches === undefined ? [] : [patternCheck(matches, { said, path: `${path}.matches`, kind })]),
    ...(maxWords === undefined
      ? []
      : [
          checkOf({
            path: `${path}.maxWords`,
            kind,
            met: words <= maxWords,
            expected: `at most ${maxWords} words`,
            actual: `${words} words: ${actual}`,
          }),
        ]),
    ...(language === undefined ? [] : [await languageCheck(language, { said, path: `${path}.language`, kind })]),
  ];
}

interface Place {
  readonly said: string;
  readonly path: string;
  readonly kind: string;
}

function patternCheck(pattern: string, { said, ...place }: Place): CheckResult {
  const found = matchesPattern(said, pattern);
  const expected = `an answer that matches ${pattern}`;
  if (found === undefined) return { ...place, verdict: 'error', expected, actual: shown(said), reason: TOO_SLOW };
  return checkOf({ ...place, met: found, expected, actual: shown(said) });
}

/** @returns undefined where it takes too long */
export function matchesPattern(text: string, pattern: string): boolean | undefined {
  return withinTime(MATCH_TIMEOUT_MS, () => expectedPattern(pattern).test(text));
}

async function languageCheck(tag: string, { said, ...place }: Place): Promise<CheckResult> {
  const { language, certain } = await languageOf(said);
  const met = language === detectorCode(tag);
  const expected = `an answer in ${tag}`;
  const actual = `${language === '' ? 'no language that is known' : language}: ${shown(said)}`;
  // "Okay." is a word of many languages.
  if (!met && !certain && said.trim() !== '')
    return { ...place, verdict: 'error', expected, actual, reason: 'the answer is too short to tell its language: ask a judge instead' };
  return checkOf({ ...place, met, expected, actual });
}
