import { withTimeout, type Clock } from '../../platform/clock.ts';
import type { HistoryItem } from '../providers/llm/history.ts';
import type { AnswerSource } from './ports.ts';

export interface SummaryOptions {
  readonly model: AnswerSource;
  /** Messages of both sides. */
  readonly messages: readonly HistoryItem[];
  /** What the model is to write. */
  readonly request: string;
  readonly withinMs: number;
  /** Longest summary, in characters; the rest is cut off. */
  readonly maxLength: number;
  readonly clock: Clock;
}

/** Asks a model for a summary. @returns undefined where it gives none in time. @throws ProviderError */
export async function askForSummary({ model, messages, request, withinMs, maxLength, clock }: SummaryOptions): Promise<string | undefined> {
  const stop = new AbortController();
  try {
    const written = await withTimeout(clock, withinMs, askModel(model, messages, request, stop.signal));
    return written?.trim().slice(0, maxLength).toWellFormed() || undefined;
  } finally {
    stop.abort();
  }
}

async function askModel(model: AnswerSource, messages: readonly HistoryItem[], request: string, signal: AbortSignal): Promise<string> {
  const history: readonly HistoryItem[] = [...messages, { type: 'message', id: 'summary', role: 'user', text: request }];
  let text = '';
  for await (const event of model.answer({ instructions: '', history, tools: [], mayCall: false, mayBeEmpty: () => true }, signal))
    if (event.type === 'text') text += event.text;
  return text;
}
