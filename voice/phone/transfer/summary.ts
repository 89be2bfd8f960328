/** Summarises the call for the target of a transfer. */
import type { Logger } from '../../../platform/logging.ts';
import { askForSummary, type SummaryOptions } from '../../conversation/summary.ts';

/** Longest time for the summary, in milliseconds: the other side waits on the line meanwhile. */
const SUMMARY_TIMEOUT_MS = 6_000;
/** Longest summary, in characters: half a minute of speech. */
const MAX_LENGTH = 500;

const REQUEST =
  'The call is about to be handed to a colleague, who has just answered and hears only you. Tell them in at most three short sentences, ' +
  'in the language of the conversation, who is calling and what it is about. Say nothing else.';

/** Text for the case that the model gives none in time. */
const FALLBACK = 'Hello, I have a caller on the line for you. I am connecting you now.';

/** Returns the summary. Never throws: a transfer with a plain sentence is better than none. */
export async function summarizeCall({
  logger,
  ...options
}: Pick<SummaryOptions, 'model' | 'messages' | 'clock'> & { readonly logger: Logger }): Promise<string> {
  try {
    const asked = { ...options, request: REQUEST, withinMs: SUMMARY_TIMEOUT_MS, maxLength: MAX_LENGTH };
    return (await askForSummary(asked)) ?? FALLBACK;
  } catch (err) {
    logger.warn({ err }, 'failed to summarise a call; transferring it without a summary');
    return FALLBACK;
  }
}
