/** What the answers of the telephone network mean for a call. */
import type { FinishReason } from '../../../store/index.ts';

/** Of a call that was dialled and not taken, or a gateway that failed. */
export type DialFailure = Extract<FinishReason, 'line_busy' | 'no_answer' | 'call_failed' | 'carrier_error'>;

/**
 * | SIP status | reason |
 * |---|---|
 * | 486, 600 | `line_busy` |
 * | 408, 480 | `no_answer` |
 * | 401, 403, 407, 5xx | `carrier_error`: the trunk, not the one who was called |
 * | every other 4xx and 6xx | `call_failed` |
 * | none: nobody knows what became of it | `carrier_error` |
 *
 * @param status final, of the INVITE
 */
export function finishReasonOfSipStatus(status: number | undefined): DialFailure {
  if (status === undefined || status < 400) return 'carrier_error';
  if (status === 486 || status === 600) return 'line_busy';
  if (status === 408 || status === 480) return 'no_answer';
  if (status === 401 || status === 403 || status === 407 || (status >= 500 && status < 600)) return 'carrier_error';
  return 'call_failed';
}
