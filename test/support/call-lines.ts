/** What `parley call --json` writes: one object a line. */
export interface CallLine {
  readonly type: string;
  readonly role?: string;
  readonly final?: boolean;
  readonly status?: string;
  readonly reason?: string;
  readonly text?: string;
}

/** What is no object is what the program wrote as well, to standard error. */
export function callLines(lines: readonly string[]): readonly CallLine[] {
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as CallLine);
}

/** What the agent has said to its end: first the welcome, then its answers. */
export function spokenByAgent(lines: readonly CallLine[]): readonly string[] {
  return lines.filter(({ type, role, final }) => type === 'transcript' && role === 'agent' && final === true).map(({ text = '' }) => text);
}
