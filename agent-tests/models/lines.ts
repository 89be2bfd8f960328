/** Formats a transcript for models. */
import type { TranscriptLine } from '../result.ts';

/** Leaves times out, which differ from run to run: the same conversation is the same request. */
export function formatTranscript(transcript: readonly TranscriptLine[]): string {
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
