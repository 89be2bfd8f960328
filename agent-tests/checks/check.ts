/** Builds the result of one expectation. */
import { cutText } from '../../platform/cut-text.ts';
import type { CheckResult } from '../result.ts';

export interface CheckOutcome {
  readonly path: string;
  readonly kind: string;
  readonly met: boolean;
  readonly expected: string;
  readonly actual: string;
  readonly reason?: string | undefined;
}

export function checkOf({ met, reason, ...check }: CheckOutcome): CheckResult {
  return { ...check, verdict: met ? 'passed' : 'failed', ...(reason !== undefined && { reason }) };
}

/** Longest text of a result, in characters. */
const MAX_SHOWN = 2_000;

export function shown(text: string): string {
  const clean = text.trim();
  return clean === '' ? '(nothing)' : cutText(clean, MAX_SHOWN, ' …');
}

export const json = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
