/** Bounds which attempts a result keeps, and how much of them: results are stored, and read with those of all tests of the run. */
import { MAX_ATTEMPTS_KEPT, type TestAttemptResult } from './result.ts';

/** Most characters of JSON for all attempts of a result; Postgres takes eight times as much. */
const MAX_CHARACTERS = 1_000_000;
/** Most characters for the checks, and for the transcript, of an attempt that is larger than {@link MAX_CHARACTERS}. */
const PART_CHARACTERS = 400_000;

/** Keeps attempts that did not pass before the others, as far as there is room, and the first one in any case. */
export function keptAttempts(attempts: readonly TestAttemptResult[]): readonly TestAttemptResult[] {
  const [first, ...others] = attempts.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_ATTEMPTS_KEPT);
  if (first === undefined) return [];
  const room = MAX_CHARACTERS - jsonSize(first);
  return room < 0 ? [shortened(first)] : [first, ...fitting(others, room)];
}

const rank = ({ verdict }: TestAttemptResult): number => (verdict === 'error' ? 0 : verdict === 'failed' ? 1 : 2);

/** Keeps the checks that did not pass and the end of the transcript: there it went wrong. */
function shortened({ checks, transcript, ...attempt }: TestAttemptResult): TestAttemptResult {
  return {
    ...attempt,
    checks: fitting(
      checks.filter(({ verdict }) => verdict !== 'passed'),
      PART_CHARACTERS,
    ),
    transcript: fitting(transcript.toReversed(), PART_CHARACTERS).toReversed(),
  };
}

function fitting<T>(items: readonly T[], characters: number): readonly T[] {
  let size = 0;
  const beyond = items.findIndex((item) => (size += jsonSize(item)) > characters);
  return beyond < 0 ? items : items.slice(0, beyond);
}

const jsonSize = (value: unknown): number => JSON.stringify(value).length;
