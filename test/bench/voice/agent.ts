/** Defines the agent that is called: the platform's defaults but for a fixed wait at the end of a turn, and providers that are known. */
import { agentKind } from '../../../crds/agent.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';

/** `endOfSpeechDelay` and `minSpeechDuration` of the agent, in milliseconds: the defaults. */
export const waitMs = 500;
export const minSpeechMs = 500;

/** A text long enough to be heard by a caller whose client is busy while it joins. */
export const welcome = 'Good morning, you are talking to the bench. How can I help you?';

export interface BenchAgentOptions {
  /** Turn detection; default `Silence`. */
  readonly mode?: 'Model' | 'Silence' | undefined;
  /** Silence that ends a turn, in milliseconds; default {@link waitMs}. */
  readonly endOfSpeechMs?: number;
  /** Least words of an interruption; default 0. */
  readonly minWords?: number;
}

/** @param baseURL the providers', up to and with `/v1` */
export function benchAgent(
  baseURL: string,
  { mode = 'Silence', endOfSpeechMs = waitMs, minWords = 0 }: BenchAgentOptions = {},
): AgentRevisionConfig {
  const provider = { provider: 'openai_compatible', model: 'm', baseURL };
  const parsed = agentKind.spec.parse({
    llm: provider,
    speechToText: provider,
    textToSpeech: provider,
    welcomeMessage: welcome,
    interruptions: { minSpeechDuration: `${minSpeechMs}ms`, minWords },
    turnDetection: { mode, endOfSpeechDelay: `${endOfSpeechMs}ms` },
    call: { endAfterSilence: '120s' },
  });
  const { suspend: _suspend, displayName: _name, knowledgeBaseRef: _ref, ...agent } = parsed;
  return {
    format: 1,
    name: 'bench',
    displayName: 'Bench',
    agent,
    systemPrompt: 'Be brief.',
    tools: [],
    knowledgeBase: null,
    versions: { secrets: {}, knowledgeBaseUid: null },
  };
}
