import { describe, expect, it } from 'vitest';

import { keptAttempts } from './kept-attempts.ts';
import type { TestAttemptResult, TranscriptLine } from './result.ts';

const lines = (count: number, characters: number): readonly TranscriptLine[] =>
  Array.from({ length: count }, (_, index) => ({ role: 'agent', text: `${index} ${'x'.repeat(characters)}`, atMs: index }));

const check = { path: 'p', kind: 'answer', expected: 'e', actual: 'a' } as const;

const attempt = (verdict: TestAttemptResult['verdict'], transcript: readonly TranscriptLine[] = []): TestAttemptResult => ({
  verdict,
  checks: [
    { ...check, verdict: 'passed' },
    { ...check, verdict },
  ],
  transcript,
  durationMs: 1,
});

describe('the attempts of a result', () => {
  it('are kept whole as long as there is room, those that did not pass first', () => {
    const large = Array.from({ length: 10 }, (_, index) => attempt(index === 7 ? 'failed' : 'passed', lines(300, 1_000)));
    const kept = keptAttempts(large);
    expect(kept.map(({ verdict }) => verdict)).toEqual(['failed', 'passed', 'passed']);
    expect(kept.every(({ transcript }) => transcript.length === 300)).toBe(true);
  });

  it('are one with the end of its transcript where one alone is too large', () => {
    const kept = keptAttempts([attempt('passed'), attempt('failed', lines(3_000, 1_000))]);
    expect(kept).toMatchObject([{ verdict: 'failed', checks: [{ verdict: 'failed' }] }]);
    expect(kept[0]?.transcript.at(-1)?.atMs).toBe(2_999);
    expect(kept[0]?.transcript.length).toBeGreaterThan(300);
    expect(JSON.stringify(kept).length).toBeLessThan(1_000_000);
  });
});
