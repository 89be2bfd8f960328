import { endedReasons, type FinishReason } from '../../platform/finish-reasons.ts';

/**
 * The states of a call:
 *
 *   registered ──start──▶ ongoing ──end──▶ ended | error
 *        └──────────────end──────────────▶ ended | error
 *
 * The reason decides between `ended` and `error`. Both are final: the first reason counts.
 */
export const callStatuses = ['registered', 'ongoing', 'ended', 'error'] as const;

export type CallStatus = (typeof callStatuses)[number];

export function isTerminal(status: CallStatus): boolean {
  return status === 'ended' || status === 'error';
}

export function terminalStatusOf(reason: FinishReason): 'ended' | 'error' {
  return (endedReasons as readonly FinishReason[]).includes(reason) ? 'ended' : 'error';
}
