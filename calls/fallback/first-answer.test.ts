import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { firstAnswer } from './first-answer.ts';

const LATE_MS = 900;

/** Each provider answers or fails when the test says so. */
function asking(providers: readonly string[], options: { readonly onlyLate?: boolean } = {}) {
  const clock = new FakeClock();
  const call = new AbortController();
  const asked: { readonly provider: string; readonly signal: AbortSignal; readonly answer: PromiseWithResolvers<string> }[] = [];
  const first = firstAnswer({
    providers,
    ask(provider, signal) {
      const answer = Promise.withResolvers<string>();
      asked.push({ provider, signal, answer });
      signal.addEventListener('abort', () => answer.reject(signal.reason));
      return answer.promise;
    },
    lateMs: LATE_MS,
    clock,
    signal: call.signal,
    ...options,
  });
  first.catch(() => undefined);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, call, asked, first, names: () => asked.map(({ provider }) => provider), settle };
}

describe('the first answer', () => {
  it('is that of the first provider, and no other one is asked', async () => {
    const { asked, first, names, clock } = asking(['a', 'b']);
    clock.tick(LATE_MS - 1);
    asked[0]!.answer.resolve('hello');
    expect(await first).toEqual({ provider: 'a', answer: 'hello', passed: [] });
    expect(names()).toEqual(['a']);
    expect(clock.timers).toBe(0);
  });

  it('comes from the next one at once where one fails', async () => {
    const { asked, first, names, settle, clock } = asking(['a', 'b']);
    asked[0]!.answer.reject(new Error('down'));
    await settle();
    expect(names()).toEqual(['a', 'b']);
    asked[1]!.answer.resolve('hello');
    expect(await first).toMatchObject({ provider: 'b', passed: [{ provider: 'a', failure: new Error('down') }] });
    expect(clock.timers).toBe(0);
  });

  it('is that of one alone where two come at the same moment', async () => {
    const { clock, asked, first, settle } = asking(['a', 'b']);
    clock.tick(LATE_MS);
    asked[1]!.answer.resolve('hello');
    asked[0]!.answer.resolve('too late');
    expect(await first).toMatchObject({ provider: 'b', answer: 'hello' });
    await settle();
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it('is a race once one is late: whoever loses is cancelled', async () => {
    for (const [winner, loser] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const { clock, asked, first, names } = asking(['a', 'b', 'c']);
      clock.tick(LATE_MS);
      expect(names()).toEqual(['a', 'b']);
      asked[winner]!.answer.resolve('hello');
      expect(await first).toMatchObject({ provider: names()[winner], passed: winner === 0 ? [] : [{ provider: 'a' }] });
      expect(asked.map(({ signal }) => signal.aborted)).toEqual(loser === 0 ? [true, false] : [false, true]);
      expect(clock.timers).toBe(0);
    }
  });

  it('is waited for where another one has failed meanwhile', async () => {
    const { clock, asked, first, names, settle } = asking(['a', 'b', 'c']);
    clock.tick(LATE_MS);
    asked[1]!.answer.reject(new Error('down'));
    await settle();
    expect(names()).toEqual(['a', 'b']);
    clock.tick(LATE_MS);
    expect(names()).toEqual(['a', 'b', 'c']);
    asked[0]!.answer.resolve('at last');
    expect(await first).toMatchObject({ provider: 'a', passed: [] });
  });

  it('fails as the preferred provider does where none answers', async () => {
    const { asked, first, settle } = asking(['a', 'b']);
    asked[0]!.answer.reject(new Error('a is down'));
    await settle();
    asked[1]!.answer.reject(new Error('b is down'));
    await expect(first).rejects.toThrow('a is down');
  });

  it('of one alone may come from a second request, but not after a failure', async () => {
    const late = asking(['a', 'a'], { onlyLate: true });
    late.clock.tick(LATE_MS);
    expect(late.names()).toEqual(['a', 'a']);
    const failed = asking(['a', 'a'], { onlyLate: true });
    failed.asked[0]!.answer.reject(new Error('down'));
    await expect(failed.first).rejects.toThrow('down');
    expect(failed.names()).toEqual(['a']);
  });

  it('ends with its reason when it is no longer wanted', async () => {
    const { call, first, names, clock } = asking(['a', 'b']);
    call.abort(new Error('the user speaks'));
    await expect(first).rejects.toThrow('the user speaks');
    expect(names()).toEqual(['a']);
    expect(clock.timers).toBe(0);
  });
});
