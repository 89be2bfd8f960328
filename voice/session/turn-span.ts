import type { TraceContext } from '../../platform/telemetry/trace-context.ts';
import { startSpan } from '../../platform/telemetry/tracing.ts';
import type { Entry } from './transcript.ts';

/**
 * An answer as a part of its call's trace, with what it took: from the end of the user's speech until the answer is written down. Numbers alone:
 * what was said is nobody's business who looks at traces, which is why the media library's own spans, that hold it, are not sent.
 */
export function traceTurn({ message, turn }: Entry, call: TraceContext | undefined): void {
  if (turn === undefined || call === undefined) return;
  const spokenAt = message?.spokenAt.getTime();
  startSpan({
    name: 'turn',
    parent: call,
    startedAt: spokenAt === undefined ? undefined : spokenAt - (turn.v2v ?? 0),
    attributes: {
      'parley.turn': turn.seq,
      'parley.turn.interrupted': message?.interrupted,
      ...milliseconds('eou', turn.eou),
      ...milliseconds('stt', turn.stt),
      ...milliseconds('llm_ttft', turn.llmTtft),
      ...milliseconds('tts_ttfb', turn.ttsTtfb),
      ...milliseconds('v2v', turn.v2v),
    },
  }).end();
}

const milliseconds = (name: string, value: number | null) => (value === null ? {} : { [`parley.turn.${name}_ms`]: value });
