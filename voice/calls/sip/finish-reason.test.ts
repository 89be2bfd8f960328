import { expect, it } from 'vitest';

import { finishReasonOfSipStatus, type DialFailure } from './finish-reason.ts';

const table: readonly (readonly [DialFailure, readonly (number | undefined)[]])[] = [
  ['line_busy', [486, 600]],
  ['no_answer', [408, 480]],
  ['carrier_error', [401, 403, 407, 500, 502, 503, 504, 599, undefined, 0, 302]],
  ['call_failed', [400, 402, 404, 406, 410, 484, 487, 488, 603, 604, 606]],
];

it.each(table.flatMap(([reason, statuses]) => statuses.map((status) => [status, reason] as const)))('SIP %s is %s', (status, reason) => {
  expect(finishReasonOfSipStatus(status)).toBe(reason);
});
