/** Keeps the live transcript: lines stand in the order in which they were begun, whichever is completed first. */
import type { SpokenLine } from '../../../calls/live-transcript.ts';

/** Adds a line, or replaces one of its id that isn't final; the user's next line replaces interim words without final ones. */
export function withLine(lines: readonly SpokenLine[], line: SpokenLine): readonly SpokenLine[] {
  const at = lines.findIndex(({ id }) => id === line.id);
  if (at >= 0) return lines[at]?.final === true ? lines : lines.with(at, line);
  const kept = line.role === 'user' ? lines.filter(({ role, final }) => role !== 'user' || final) : lines;
  return [...kept, line];
}
