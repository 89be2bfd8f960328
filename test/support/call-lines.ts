/** A line of `parley call --json`, which writes one object a line. */
export interface CallLine {
  readonly type: string;
  readonly role?: string;
  readonly final?: boolean;
  readonly status?: string;
  readonly reason?: string;
  readonly text?: string;
}

/** Parses the lines. A line that is no object was written to standard error, and is left out. */
export function callLines(lines: readonly string[]): readonly CallLine[] {
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as CallLine);
}

/** Returns what the agent has said to its end: first the welcome, then its answers. */
export function spokenByAgent(lines: readonly CallLine[]): readonly string[] {
  return lines.filter(({ type, role, final }) => type === 'transcript' && role === 'agent' && final === true).map(({ text = '' }) => text);
}
