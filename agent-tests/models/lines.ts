/** A transcript as models get it. */
import type { TranscriptLine } from '../result.ts';

/** Without times, which differ from run to run: the same conversation is the same request. */
export function linesOf(transcript: readonly TranscriptLine[]): string {
  if (transcript.length === 0) return '(nothing was said)';
  return transcript
    .map(({ role, text, tool }) =>
      JSON.stringify(
        tool === undefined
          ? { speaker: role, said: text }
          : { tool: tool.name, arguments: tool.arguments, ...(tool.error === undefined ? { result: tool.result } : { error: tool.error }) },
      ),
    )
    .join('\n');
}
