/** What one check of `parley doctor` says. */
export interface Finding {
  /** What was looked at, in a few words. */
  readonly name: string;
  /** `warn` is worth knowing and stops nothing. */
  readonly outcome: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do, as a command or one sentence. */
  readonly cure?: string;
}

export const ok = (name: string, detail: string): Finding => ({ name, outcome: 'ok', detail });
export const warn = (name: string, detail: string, cure?: string): Finding => ({
  name,
  outcome: 'warn',
  detail,
  ...(cure === undefined ? {} : { cure }),
});
export const fail = (name: string, detail: string, cure: string): Finding => ({ name, outcome: 'fail', detail, cure });

const marks = { ok: '✓', warn: '!', fail: '✗' } as const;

/** One line for a person, and one below it with the cure. */
export function describeFinding(finding: Finding): string {
  return `${marks[finding.outcome]} ${finding.name}: ${finding.detail}\n${finding.cure === undefined ? '' : `    → ${finding.cure}\n`}`;
}
