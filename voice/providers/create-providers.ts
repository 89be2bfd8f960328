/** The LLM, STT and TTS of a call, from the settings of its agent. */
import type { llm as llms, stt as stts, tts as ttss } from '@livekit/agents';

import {
  createProviderFetch,
  llmEndpointOf,
  sttEndpointOf,
  ttsEndpointOf,
  type ProviderKeyReader,
  type ProviderDefaults,
  type ProviderEndpoint,
} from '../calls/provider-access/index.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import { LanguageModel } from './llm/language-model.ts';
import { sttProtocolOf, ttsProtocolOf, voicesOf } from './provider-table.ts';
import { SttAdapter } from './stt/stt-adapter.ts';
import { TtsAdapter } from './tts/tts-adapter.ts';
import { voiceIdOf } from './tts/voices.ts';

export interface Providers {
  readonly llm: llms.LLM;
  readonly stt: stts.STT;
  readonly tts: ttss.TTS;
  /** Aborts what is under way. */
  close(): Promise<void>;
}

export interface CreateProvidersOptions {
  /** The organisation in whose namespace the keys are. */
  readonly org: string;
  readonly agent: AgentRevisionConfig['agent'];
  readonly keys: ProviderKeyReader;
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
 * @throws ProviderError where a provider can't be used as it is configured, or its key can't be read
 */
export async function createProviders(options: CreateProvidersOptions): Promise<Providers> {
  const { agent, egress, logger, clock = systemClock } = options;
  const { language } = agent;
  const [sttEndpoint, llmEndpoint, wantedTts] = await Promise.all([
    sttEndpointOf({ ...options, stt: agent.speechToText }),
    llmEndpointOf({ ...options, llm: agent.llm }),
    ttsEndpointOf({ ...options, tts: agent.textToSpeech }),
  ]);
  const fetchOf = (endpoint: ProviderEndpoint) => createProviderFetch({ endpoint, egress, clock });
  const directory = voicesOf(wantedTts);
  const ttsEndpoint =
    directory === undefined
      ? wantedTts
      : { ...wantedTts, voice: await voiceIdOf({ endpoint: wantedTts, directory, fetch: fetchOf(wantedTts), clock }) };
  const adapter = (endpoint: ProviderEndpoint) => ({ provider: endpoint.provider, language, fetch: fetchOf(endpoint), clock });
  const { temperature, maxTokens } = agent.llm;
  const llm = new LanguageModel({ endpoint: llmEndpoint, temperature, maxTokens, fetch: fetchOf(llmEndpoint) });
  const stt = new SttAdapter({ ...adapter(sttEndpoint), protocol: sttProtocolOf({ endpoint: sttEndpoint, language }) });
  const ttsProtocol = ttsProtocolOf({ endpoint: ttsEndpoint, language, temperature: agent.textToSpeech.temperature });
  const tts = new TtsAdapter({ ...adapter(ttsEndpoint), protocol: ttsProtocol });
  logger.debug(
    {
      stt: { provider: stt.provider, model: stt.model },
      llm: { provider: llm.provider, model: llm.model },
      tts: { provider: tts.provider, model: tts.model },
    },
    'the providers of the call',
  );
  llm.prewarm();
  const closing = new AbortController();
  const { origin } = new URL(ttsProtocol.requestFor('').url);
  // Only to open the connection: the status doesn't matter, and an unreachable provider shows when it is needed.
  fetchOf(ttsEndpoint)(origin, { method: 'HEAD', signal: closing.signal }).catch(() => undefined);
  return {
    llm,
    stt,
    tts,
    async close() {
      closing.abort();
      await Promise.all([llm.aclose(), stt.close(), tts.close()]);
    },
  };
}
