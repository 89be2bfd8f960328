/** What the agent says to the target of a warm transfer. */
import type { llm } from '@livekit/agents';

import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';

/** The other side waits on the line meanwhile, in milliseconds. */
const TIMEOUT_MS = 6_000;
/** In characters: what is said in half a minute. */
const longest = 500;

const request =
  'The call is about to be handed to a colleague, who has just answered and hears only you. Tell them in at most three short sentences, ' +
  'in the language of the conversation, who is calling and what it is about. Say nothing else.';

/** Said where the model has nothing to say in time. */
const fallback = 'Hello, I have a caller on the line for you. I am connecting you now.';

export interface SummaryOptions {
  /** Undefined where there is none. */
  readonly model: llm.LLM | undefined;
  /** What was said so far. */
  readonly history: llm.ChatContext;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Never throws: a transfer with a plain sentence is better than none. */
export async function summaryFor({ model, history, clock, logger }: SummaryOptions): Promise<string> {
  if (model === undefined) return fallback;
  const chatCtx = history.copy({ excludeFunctionCall: true });
  chatCtx.addMessage({ role: 'user', content: request });
  const stream = model.chat({ chatCtx });
  try {
    const answer = await withTimeout(clock, TIMEOUT_MS, stream.collect());
    return answer?.text.trim().slice(0, longest) || fallback;
  } catch (err) {
    logger.warn({ err }, 'failed to summarise a call; transferring it without a summary');
    return fallback;
  } finally {
    stream.close();
  }
}
