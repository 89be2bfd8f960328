/** The live transcript: lines stand in the order in which they were begun, whichever is completed first. */
import type { SpokenLine } from '../../../calls/live-transcript.ts';

/** A line replaces the one with its id, unless that is final; interim words of the user that no final ones followed go with the user's next line. */
export function withLine(lines: readonly SpokenLine[], line: SpokenLine): readonly SpokenLine[] {
  const at = lines.findIndex(({ id }) => id === line.id);
  if (at >= 0) return lines[at]?.final === true ? lines : lines.with(at, line);
  const kept = line.role === 'user' ? lines.filter(({ role, final }) => role !== 'user' || final) : lines;
  return [...kept, line];
}
