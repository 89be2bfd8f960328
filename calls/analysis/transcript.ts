/** The transcript as the model gets it: lines of JSON, within the model's limits. */
import { cutText } from '../../platform/cut-text.ts';
import type { CallMessage } from '../../store/index.ts';

/** Longest transcript, in characters: about 50,000 tokens, which is some five hours of talk. */
export const MAX_TRANSCRIPT_LENGTH = 200_000;

/**
 * Writes one line of JSON for each utterance. A long transcript loses its middle: the beginning and the end of a conversation say most.
 *
 * @param limit in characters
 * @returns undefined where nothing was said
 */
export function transcriptText(
  messages: readonly Pick<CallMessage, 'role' | 'content'>[],
  limit = MAX_TRANSCRIPT_LENGTH,
): string | undefined {
  const lines = messages
    .filter(({ content }) => content.trim() !== '')
    .map(({ role, content }) => JSON.stringify({ speaker: role, said: cutText(content, limit / 4, ' …') }));
  if (lines.length === 0) return undefined;
  if (linesLength(lines) <= limit) return lines.join('\n');
  const head = fitting(lines, limit / 2);
  const tail = fitting(lines.slice(head.length).reverse(), limit / 2).reverse();
  const left = lines.length - head.length - tail.length;
  return [...head, JSON.stringify({ left_out: `${left} utterances in the middle of the conversation` }), ...tail].join('\n');
}

function fitting(lines: readonly string[], limit: number): string[] {
  const taken: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > limit) break;
    taken.push(line);
  }
  return taken;
}

const linesLength = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);
