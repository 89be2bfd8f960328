import { llm, type voice } from '@livekit/agents';

import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';
import { summaryFor } from './summary.ts';
import type { TransferVoice } from './index.ts';

/** The agent's own voice and ears, for a transfer. What is said to others is no part of the conversation. */
export function sessionVoice({
  session,
  clock,
  logger,
}: {
  /** There is one by the time that anybody asks for a transfer. */
  readonly session: () => Promise<voice.AgentSession>;
  readonly clock: Clock;
  readonly logger: Logger;
}): TransferVoice {
  return {
    async say(text) {
      const handle = (await session()).say(text, { allowInterruptions: false, addToChatCtx: false });
      await handle.waitForPlayout();
    },
    async summary() {
      const { llm: model, history } = await session();
      return summaryFor({ model: model instanceof llm.LLM ? model : undefined, history, clock, logger });
    },
    async deafen() {
      const { input } = await session();
      input.setAudioEnabled(false);
      return () => input.setAudioEnabled(true);
    },
  };
}
