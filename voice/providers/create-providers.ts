/** What a call listens, thinks and speaks with, from the settings of its agent. */
import type { llm, stt, tts } from '@livekit/agents';

import {
  createProviderFetch,
  llmEndpointOf,
  sttEndpointOf,
  ttsEndpointOf,
  type Credentials,
  type ProviderDefaults,
  type ProviderEndpoint,
} from '../calls/providers/index.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import { hearingProtocolOf } from './hearing-protocols.ts';
import { LanguageModel } from './language-model.ts';
import { Listener } from './listener.ts';
import { Speaker } from './speaker.ts';
import { speechProtocolOf } from './speech-protocols.ts';

export interface Providers {
  readonly llm: llm.LLM;
  readonly stt: stt.STT;
  readonly tts: tts.TTS;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface CreateProvidersOptions {
  /** The organisation in whose namespace the keys are. */
  readonly org: string;
  readonly agent: AgentRevisionConfig['agent'];
  readonly credentials: Credentials;
  /** Guards every address that the agent names; what the operator has set needs no guard. */
  readonly egress: Egress;
  readonly defaults: ProviderDefaults;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Where `apiKeyEnv` of the defaults is looked up; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the keys, and opens the connections that the first words need.
 * @throws ProviderFailure where a provider can't be used as it is configured, or its key can't be read
 */
export async function createProviders(options: CreateProvidersOptions): Promise<Providers> {
  const { agent, egress, logger, clock = systemClock } = options;
  const [heard, thought, said] = await Promise.all([
    sttEndpointOf({ ...options, stt: agent.speechToText }),
    llmEndpointOf({ ...options, llm: agent.llm }),
    ttsEndpointOf({ ...options, tts: agent.textToSpeech }),
  ]);
  const { language } = agent;
  const fetchOf = (endpoint: ProviderEndpoint) => createProviderFetch({ endpoint, egress, clock });
  const listener = new Listener({
    provider: heard.provider,
    protocol: hearingProtocolOf({ endpoint: heard, language }),
    language,
    fetch: fetchOf(heard),
    clock,
  });
  const { temperature, maxTokens } = agent.llm;
  const model = new LanguageModel({ endpoint: thought, temperature, maxTokens, fetch: fetchOf(thought) });
  const speech = speechProtocolOf({ endpoint: said, language, temperature: agent.textToSpeech.temperature });
  const speaker = new Speaker({
    provider: said.provider,
    protocol: speech,
    language,
    fetch: fetchOf(said),
    clock,
  });
  logger.debug(
    {
      stt: { provider: heard.provider, model: listener.model },
      llm: { provider: thought.provider, model: model.model },
      tts: { provider: said.provider, model: speaker.model },
    },
    'the providers of the call',
  );
  model.prewarm();
  const closing = new AbortController();
  const { origin } = new URL(speech.requestFor('').url);
  // Only for the connection: what is answered doesn't matter, and what can't be reached is found out when it is needed.
  fetchOf(said)(origin, { method: 'HEAD', signal: closing.signal }).catch(() => undefined);
  return {
    llm: model,
    stt: listener,
    tts: speaker,
    async close() {
      closing.abort();
      await Promise.all([model.aclose(), listener.close(), speaker.close()]);
    },
  };
}
