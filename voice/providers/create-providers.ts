/** The LLM, STT and TTS of a call, from the settings of its agent. */
import type { llm as llms, tts as ttss } from '@livekit/agents';

import {
  createProviderConnect,
  createProviderFetch,
  llmEndpointOf,
  sttEndpointOf,
  ttsEndpointOf,
  type ProviderKeyReader,
  type ProviderDefaults,
  type ProviderEndpoint,
  type ProviderFetch,
} from '../calls/provider-access/index.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import { LanguageModel } from './llm/language-model.ts';
import { sttProtocolOf, sttStreamingOf, ttsProtocolOf, voicesOf } from './provider-table.ts';
import { SttAdapter } from './stt/stt-adapter.ts';
import { supportsStreaming } from './stt/streaming/try-streaming.ts';
import { TtsAdapter } from './tts/tts-adapter.ts';
import { voiceIdOf } from './tts/voices.ts';

export interface Providers {
  readonly llm: llms.LLM;
  readonly stt: SttAdapter;
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
  const { temperature, maxTokens } = agent.llm;
  const [stt, ttsEndpoint] = await Promise.all([
    sttAdapterOf({ endpoint: sttEndpoint, language, egress, clock, fetch: fetchOf(sttEndpoint) }),
    withVoiceId(wantedTts, { fetch: fetchOf(wantedTts), clock }),
  ]);
  const llm = new LanguageModel({ endpoint: llmEndpoint, temperature, maxTokens, fetch: fetchOf(llmEndpoint) });
  const ttsProtocol = ttsProtocolOf({ endpoint: ttsEndpoint, language, temperature: agent.textToSpeech.temperature });
  const tts = new TtsAdapter({ provider: ttsEndpoint.provider, language, fetch: fetchOf(ttsEndpoint), clock, protocol: ttsProtocol });
  logger.debug(
    {
      stt: { provider: stt.provider, model: stt.model, streaming: stt.capabilities.streaming },
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

interface SttAdapterWanted {
  readonly endpoint: ProviderEndpoint;
  readonly language: string;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly fetch: ProviderFetch;
}

/** Streams where the provider does. */
async function sttAdapterOf({ endpoint, language, egress, clock, fetch }: SttAdapterWanted): Promise<SttAdapter> {
  const { provider } = endpoint;
  const streaming = sttStreamingOf({ endpoint, language });
  const connect = createProviderConnect({ endpoint, egress, clock });
  const streamed =
    streaming !== undefined && (streaming.optional !== true || (await supportsStreaming({ streaming, provider, connect, clock })));
  const speaks = streamed ? { streaming, connect } : { protocol: sttProtocolOf({ endpoint, language }), fetch };
  return new SttAdapter({ provider, language, clock, speaks });
}

async function withVoiceId(
  endpoint: ProviderEndpoint,
  tools: { readonly fetch: ProviderFetch; readonly clock: Clock },
): Promise<ProviderEndpoint> {
  const directory = voicesOf(endpoint);
  return directory === undefined ? endpoint : { ...endpoint, voice: await voiceIdOf({ endpoint, directory, ...tools }) };
}
