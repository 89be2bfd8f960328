/** Summarises the call for the target of a transfer. */
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';
import type { AnswerSource } from '../../conversation/ports.ts';
import type { HistoryItem } from '../../providers/llm/history.ts';

/** Longest time for the summary, in milliseconds: the other side waits on the line meanwhile. */
const SUMMARY_TIMEOUT_MS = 6_000;
/** Longest summary, in characters: half a minute of speech. */
const MAX_LENGTH = 500;

const REQUEST =
  'The call is about to be handed to a colleague, who has just answered and hears only you. Tell them in at most three short sentences, ' +
  'in the language of the conversation, who is calling and what it is about. Say nothing else.';

/** Text for the case that the model gives none in time. */
const FALLBACK = 'Hello, I have a caller on the line for you. I am connecting you now.';

export interface SummaryOptions {
  readonly model: AnswerSource;
  /** Messages of both sides. */
  readonly messages: readonly HistoryItem[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Returns the summary. Never throws: a transfer with a plain sentence is better than none. */
export async function summarizeCall({ model, messages, clock, logger }: SummaryOptions): Promise<string> {
  const stop = new AbortController();
  try {
    const written = await withTimeout(clock, SUMMARY_TIMEOUT_MS, askModel(model, messages, stop.signal));
    return written?.trim().slice(0, MAX_LENGTH).toWellFormed() || FALLBACK;
  } catch (err) {
    logger.warn({ err }, 'failed to summarise a call; transferring it without a summary');
    return FALLBACK;
  } finally {
    stop.abort();
  }
}

async function askModel(model: AnswerSource, messages: readonly HistoryItem[], signal: AbortSignal): Promise<string> {
  const history: readonly HistoryItem[] = [...messages, { type: 'message', id: 'summary', role: 'user', text: REQUEST }];
  let text = '';
  for await (const event of model.answer({ instructions: '', history, tools: [], mayCall: false, mayBeEmpty: () => true }, signal))
    if (event.type === 'text') text += event.text;
  return text;
}
