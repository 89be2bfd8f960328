import { beforeEach, describe, expect, it } from 'vitest';

import { Redactor, type KnownValue } from '../../calls/redaction/redactor.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { HELD_MS, SoundGuard, type SoundGuardOptions } from './sound-guard.ts';

let clock: FakeClock;
let began: number;

beforeEach(() => {
  clock = new FakeClock();
  began = clock.now();
});

const guardWith = (model?: SoundGuardOptions['model']): SoundGuard =>
  new SoundGuard({ redactor: new Redactor({ spec: { kinds: ['Card', 'Name'] }, language: 'en', thisYear: 2026 }), model, clock });

/** The user speaks for two seconds, and is understood. */
async function userSays(guard: SoundGuard, text: string): Promise<void> {
  guard.hear({ type: 'speaks', since: clock.now() });
  clock.tick(2_000);
  guard.hear({ type: 'pauses', spokenMs: 2_000 });
  guard.hear({ type: 'understood', text, more: false });
  await settle();
}

/** Returns what is covered, in seconds since the beginning. */
const coveredBy = (guard: SoundGuard) =>
  guard.covered().map(({ side, from, to }) => [side, Math.round((from - began) / 100) / 10, Math.round((to - began) / 100) / 10]);
const judgedBy = (guard: SoundGuard): number => guard.judgedUntil(clock.now()) - began;

describe('the sound of the user', () => {
  it('is held until its words are known, and covered where they are personal', async () => {
    const guard = guardWith();
    await userSays(guard, 'hello');
    expect([coveredBy(guard), judgedBy(guard)]).toEqual([[], 2_000]);
    guard.hear({ type: 'speaks', since: clock.now() });
    clock.tick(2_000);
    expect(judgedBy(guard)).toBe(1_600);
    guard.hear({ type: 'pauses', spokenMs: 2_000 });
    guard.hear({ type: 'understood', text: '4242 4242 4242 4242', more: false });
    await settle();
    expect([coveredBy(guard), judgedBy(guard)]).toEqual([[[0, 1.6, 4.4]], 4_000]);
  });

  it('is held while digits may go on, and covered as one number', async () => {
    const guard = guardWith();
    await userSays(guard, '4242 4242');
    clock.tick(1_000);
    expect(judgedBy(guard)).toBe(-400);
    await userSays(guard, '4242 4242');
    expect(judgedBy(guard)).toBe(5_000);
    expect(coveredBy(guard)).toEqual([
      [0, -0.4, 2.4],
      [0, 2.6, 5.4],
    ]);
  });

  it('is let go where the digits were no number', async () => {
    const guard = guardWith();
    await userSays(guard, '42 please');
    await userSays(guard, 'that is my room');
    expect([coveredBy(guard), judgedBy(guard)]).toEqual([[], 4_000]);
  });

  it('is covered where its words come too late, or never', async () => {
    const guard = guardWith();
    guard.hear({ type: 'speaks', since: clock.now() });
    clock.tick(HELD_MS + 5_000);
    expect(judgedBy(guard)).toBe(5_000);
    expect(coveredBy(guard)).toEqual([[0, -0.4, 5]]);
    guard.close();
    expect(coveredBy(guard).at(-1)).toEqual([0, -0.4, Infinity]);
  });

  it('waits for the model, and is covered where that gives no answer', async () => {
    const answer = Promise.withResolvers<readonly KnownValue[] | undefined>();
    const guard = guardWith({ find: () => answer.promise });
    await userSays(guard, 'I am Ada');
    expect(judgedBy(guard)).toBe(-400);
    answer.resolve(undefined);
    await guard.settled();
    expect([coveredBy(guard), judgedBy(guard)]).toEqual([[[0, -0.4, 2.4]], 2_000]);
  });
});

describe('the sound of the agent', () => {
  const text = 'It is 4242 4242 4242 4242, right?';

  it('is covered from the first of the words to the last', () => {
    const guard = guardWith();
    guard.says(1, text);
    for (const characters of [0, 2, 5, 10, 15, 20, 25, 26, 33]) {
      guard.heard(1, characters, false);
      clock.tick(1_000);
    }
    guard.heard(1, 33, true);
    expect(coveredBy(guard)[0]).toEqual([1, 2 - 0.4, 6.4]);
    expect(judgedBy(guard)).toBe(9_000);
  });

  it('is held while such words are heard', () => {
    const guard = guardWith();
    guard.says(1, text);
    guard.heard(1, 0, false);
    clock.tick(1_000);
    guard.heard(1, 10, false);
    clock.tick(1_000);
    expect(judgedBy(guard)).toBe(-400);
  });
});

it('covers what nobody judges, as long as that lasts', () => {
  const guard = new SoundGuard({ clock });
  clock.tick(1_000);
  const end = guard.coverAll(0);
  clock.tick(3_000);
  end();
  expect(coveredBy(guard)).toEqual([[0, 0.6, 4.4]]);
});
