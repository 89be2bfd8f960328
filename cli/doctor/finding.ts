/** The result of one check of `parley doctor`. */
import { checks, type CheckId } from './checks.ts';

export interface Finding {
  /** Id of the check; its section in docs/operations/troubleshooting.md has the same name. */
  readonly check: CheckId;
  /** Says in a few words what was looked at. */
  readonly name: string;
  /** `warn` is worth knowing and stops nothing. */
  readonly outcome: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** Says what to do, as a command or one sentence. */
  readonly cure?: string;
}

export interface Findings {
  ok(detail: string): Finding;
  warn(detail: string, cure?: string): Finding;
  fail(detail: string, cure: string): Finding;
}

/** @param name names what was looked at, where the check looks at more than one thing */
export function findingsOf(check: CheckId, name: string = checks[check]): Findings {
  return {
    ok: (detail) => ({ check, name, outcome: 'ok', detail }),
    warn: (detail, cure) => ({ check, name, outcome: 'warn', detail, ...(cure === undefined ? {} : { cure }) }),
    fail: (detail, cure) => ({ check, name, outcome: 'fail', detail, cure }),
  };
}

const marks = { ok: '✓', warn: '!', fail: '✗' } as const;

/** Formats one line for a person, and one below it with the cure. */
export function describeFinding(finding: Finding): string {
  return `${marks[finding.outcome]} ${finding.name}: ${finding.detail}\n${finding.cure === undefined ? '' : `    → ${finding.cure}\n`}`;
}
