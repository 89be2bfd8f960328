import { llm, type voice } from '@livekit/agents';

import { type Clock, withTimeout } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';
import type { TransferVoice } from './index.ts';

/** The other side waits on the line meanwhile, in milliseconds. */
const SUMMARY_TIMEOUT_MS = 6_000;
/** In characters: what is said in half a minute. */
const MAX_LENGTH = 500;

const REQUEST =
  'The call is about to be handed to a colleague, who has just answered and hears only you. Tell them in at most three short sentences, ' +
  'in the language of the conversation, who is calling and what it is about. Say nothing else.';

/** Said where the model has nothing to say in time. */
const FALLBACK = 'Hello, I have a caller on the line for you. I am connecting you now.';

/** What a transfer needs of the session. What is said to the target is not part of the conversation. */
export function sessionVoice({
  session,
  clock,
  logger,
}: {
  readonly session: () => Promise<voice.AgentSession>;
  readonly clock: Clock;
  readonly logger: Logger;
}): TransferVoice {
  return {
    async say(text, signal) {
      const current = await session();
      if (signal.aborted) return;
      const handle = current.say(text, { allowInterruptions: false, addToChatCtx: false });
      const stop = (): unknown => handle.interrupt(true);
      signal.addEventListener('abort', stop, { once: true });
      await handle.waitForPlayout().finally(() => signal.removeEventListener('abort', stop));
    },
    async summary() {
      return summaryOf(await session(), clock, logger);
    },
    async deafen() {
      const { input } = await session();
      input.setAudioEnabled(false);
      return () => input.setAudioEnabled(true);
    },
  };
}

/** Never throws: a transfer with a plain sentence is better than none. */
async function summaryOf({ llm: model, history }: voice.AgentSession, clock: Clock, logger: Logger): Promise<string> {
  if (!(model instanceof llm.LLM)) return FALLBACK;
  const chatCtx = history.copy({ excludeFunctionCall: true });
  chatCtx.addMessage({ role: 'user', content: REQUEST });
  const stream = model.chat({ chatCtx });
  try {
    const answer = await withTimeout(clock, SUMMARY_TIMEOUT_MS, stream.collect());
    return answer?.text.trim().slice(0, MAX_LENGTH).toWellFormed() || FALLBACK;
  } catch (err) {
    logger.warn({ err }, 'failed to summarise a call; transferring it without a summary');
    return FALLBACK;
  } finally {
    stream.close();
  }
}
