import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  afterChange,
  callStatuses,
  endedReasons,
  errorReasons,
  finishReasons,
  isTerminal,
  registered,
  type CallChange,
} from './call-state.ts';

const change: fc.Arbitrary<CallChange> = fc.oneof(
  fc.constant<CallChange>({ kind: 'start' }),
  fc.constantFrom(...finishReasons).map((reason): CallChange => ({ kind: 'end', reason })),
);

describe('the states of a call', () => {
  it('only go forward, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        let state = registered;
        for (const each of changes) {
          const next = afterChange(state, each);
          expect(callStatuses.indexOf(next.status)).toBeGreaterThanOrEqual(callStatuses.indexOf(state.status));
          state = next;
        }
      }),
    );
  });

  it('end with the first reason, and stay so', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const state = changes.reduce(afterChange, registered);
        const first = changes.find((each) => each.kind === 'end');
        expect(state.finishReason).toBe(first?.kind === 'end' ? first.reason : null);
        expect(isTerminal(state.status)).toBe(first !== undefined);
      }),
    );
  });

  it('are `ended` for the reasons that calls have, and `error` for all others', () => {
    for (const reason of endedReasons) expect(afterChange(registered, { kind: 'end', reason }).status).toBe('ended');
    for (const reason of errorReasons) expect(afterChange(registered, { kind: 'end', reason }).status).toBe('error');
    // The contract has 22 of them.
    expect(new Set(finishReasons).size).toBe(22);
  });
});
