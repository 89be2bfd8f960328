import { expect, it } from 'vitest';

import { endedReasons, errorReasons, finishReasons } from '../../platform/finish-reasons.ts';
import { terminalStatusOf } from './call-state.ts';

it('a call is `ended` for the reasons that calls have, and `error` for all others', () => {
  for (const reason of endedReasons) expect(terminalStatusOf(reason)).toBe('ended');
  for (const reason of errorReasons) expect(terminalStatusOf(reason)).toBe('error');
  // The contract has 22 finish reasons.
  expect(new Set(finishReasons).size).toBe(22);
});
