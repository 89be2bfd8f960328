/** Creates the LLM, STT and TTS of a call from the settings of its agent. */
import {
  createProviderConnect,
  createProviderFetch,
  llmEndpointOf,
  ProviderError,
  sttEndpointOf,
  type ProviderEndpoint,
  type ProviderFetch,
  type WantedStt,
  type WantedTts,
} from '../../calls/provider-access/index.ts';
import { heardMeter, type HeardMeter } from '../../calls/usage/heard-meter.ts';
import type { UsageMeter } from '../../calls/usage/usage-meter.ts';
import { LATE_MS } from '../../calls/fallback/provider-order.ts';
import { DEFAULT_RECOGNIZERS } from '../../crds/keywords.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { fillTemplate, type DynamicData } from '../../crds/template.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { unobserved } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { TextNormalizer } from '../text-normalization/index.ts';
import { createLanguageModel, providerOrder, type ProviderOptions } from './create-language-model.ts';
import { createSpeechSource, voiceSettingsOf } from './create-speech-source.ts';
import type { HedgedLanguageModel } from './llm/hedged-language-model.ts';
import { RealtimeModel } from './realtime/realtime-model.ts';
import { sttProtocolOf, sttStreamingOf } from './provider-table.ts';
import type { SpeechRecognizer } from './stt/recognition.ts';
import { StreamingRecognizer } from './stt/streaming-recognizer.ts';
import type { SttSettings } from './stt/stt-protocols.ts';
import type { SttProvider } from './stt/streaming/streamed-recognition.ts';
import { STREAMING_ATTEMPT_MS, supportsStreaming } from './stt/streaming/try-streaming.ts';
import { connectToWholeTurns, wholeTurns } from './stt/streaming/whole-turns.ts';
import { observedSpeech } from './tts/observed-speech.ts';
import { SentenceSynthesizer } from './tts/sentence-synthesizer.ts';
import type { SpeechSynthesizer } from './tts/speech-synthesizer.ts';
import { TtsProvider } from './tts/tts-provider.ts';
import { withWelcomeSounds } from './tts/welcome-sounds.ts';

export interface Providers {
  /** The models of `llm`: for summaries, and for who picks up. */
  readonly llm: HedgedLanguageModel;
  /** The models that hold the conversation: those of `llm`, after the realtime model where there is one. */
  readonly conversation: HedgedLanguageModel;
  readonly stt: SpeechRecognizer;
  readonly tts: SpeechSynthesizer;
  close(): Promise<void>;
}

export interface CreateProvidersOptions extends ProviderOptions {
  readonly agent: AgentRevisionConfig['agent'];
  /** Resolves to the data of the call, for the placeholders of keywords. */
  readonly dataOf?: () => Promise<DynamicData>;
  /** Meter of the sound that is sent to speech to text: the observer sees all other usage. */
  readonly meter?: Pick<UsageMeter, 'add'> | undefined;
}

/**
 * Reads the keys, and opens the connections that the first words need.
 * @throws ProviderError where a provider and its fallbacks can't be used as it is configured, or its key can't be read
 */
export async function createProviders(options: CreateProvidersOptions): Promise<Providers> {
  const { agent, egress, logger, clock = systemClock, observer = unobserved, meter } = options;
  const { language, speech } = agent;
  const { temperature, speed, volume = 1 } = agent.textToSpeech;
  const pronunciations = (speech?.replacements ?? []).flatMap(({ spoken, ipa }) => (ipa === undefined ? [] : [{ spoken, ipa }]));
  const welcome = agent.welcomeMessage && new TextNormalizer({ language, ...speech }).spokenOf(agent.welcomeMessage);
  const fetchOf = (endpoint: ProviderEndpoint) => createProviderFetch({ endpoint, egress, clock });
  const ttsOf = async (tts: WantedTts): Promise<TtsProvider> => {
    const settings = await voiceSettingsOf({ ...options, tts, language, temperature, speed, pronunciations, clock });
    const { endpoint } = settings;
    const { provider } = endpoint;
    const source = observedSpeech({ source: createSpeechSource({ ...settings, egress, clock }), endpoint, observer });
    return new TtsProvider({ provider, source: withWelcomeSounds({ source, welcome, settings, clock }), volume: Number(volume) });
  };
  const listensAlone = (agent.speechToText.fallbacks ?? []).length === 0;
  const sttOf = async (stt: WantedStt) => {
    const [endpoint, keywords] = await Promise.all([sttEndpointOf({ ...options, stt }), keywordsOf(options)]);
    return sttProviderOf({
      endpoint,
      language,
      keywords,
      egress,
      clock,
      fetch: fetchOf(endpoint),
      counted: (model) => meter && heardMeter({ meter, provider: endpoint.provider, model }),
      withinMs: listensAlone ? STREAMING_ATTEMPT_MS : LATE_MS,
    });
  };
  const [realtime, pipelineStt, llm, voices] = await Promise.all([
    realtimeOf(options),
    providerOrder('stt', agent.speechToText, { ...options, create: sttOf, restMs: Number.POSITIVE_INFINITY }),
    createLanguageModel(options),
    // Callers notice another voice: it stays for the rest of the call.
    providerOrder('tts', agent.textToSpeech, { ...options, create: ttsOf, restMs: Number.POSITIVE_INFINITY }),
  ]);
  const sttProviders = realtime === undefined ? pipelineStt : pipelineStt.withFirst({ ...realtime.recognizer, streams: true });
  const conversation = realtime === undefined ? llm : llm.withFirst(realtime);
  const stt = new StreamingRecognizer({ providers: sttProviders, clock, observer });
  const tts = new SentenceSynthesizer({ voices, clock });
  logger.debug(
    {
      stt: sttProviders.all.map(({ provider, model, streams }) => ({ provider, model, streams })),
      llm: { provider: conversation.provider, model: conversation.model },
      tts: voices.all.map(({ provider, model }) => ({ provider, model })),
    },
    'the providers of the call',
  );
  const closing = new AbortController();
  llm.prewarm(closing.signal);
  tts.connect(closing.signal);
  return {
    llm,
    conversation,
    stt,
    tts,
    async close() {
      closing.abort();
      for (const each of new Set([llm, conversation])) each.close();
      await Promise.all([stt.close(), tts.close()]);
    },
  };
}

/** Creates the realtime model. A call goes on without one that can't be used as it is configured. */
async function realtimeOf(options: CreateProvidersOptions): Promise<RealtimeModel | undefined> {
  const { agent, egress, logger, clock = systemClock, observer, meter } = options;
  if (agent.realtime === undefined) return undefined;
  const { provider, model, transcriptionModel = DEFAULT_RECOGNIZERS.openai } = agent.realtime;
  try {
    const [endpoint, keywords] = await Promise.all([llmEndpointOf({ ...options, llm: agent.realtime }), keywordsOf(options)]);
    return new RealtimeModel({
      // The model of the operator's defaults is one for requests.
      endpoint: { ...endpoint, model },
      transcriptionModel,
      language: agent.language,
      keywords,
      connect: createProviderConnect({ endpoint, egress, clock }),
      clock,
      observer,
      counted: meter && heardMeter({ meter, provider, model: transcriptionModel }),
    });
  } catch (err) {
    if (!(err instanceof ProviderError)) throw err;
    logger.warn({ provider, model, err }, 'the realtime model cannot be used in this call; going on with llm and speechToText');
    return undefined;
  }
}

/** Returns the words to listen for, with the data of the call. Only placeholders wait for the data. */
async function keywordsOf({ agent, dataOf }: Pick<CreateProvidersOptions, 'agent' | 'dataOf'>): Promise<readonly string[]> {
  const { keywords = [] } = agent.speechToText;
  if (!keywords.some((keyword) => keyword.includes('{{'))) return keywords;
  const known = (await dataOf?.()) ?? {};
  const filled = keywords.map((keyword) => fillTemplate(keyword, known).trim());
  return [...new Set(filled)].filter((keyword) => keyword !== '');
}

interface SttWanted extends SttSettings {
  readonly egress: Egress;
  readonly clock: Clock;
  readonly fetch: ProviderFetch;
  readonly counted: (model: string) => HeardMeter | undefined;
  /** Longest time to find out, in milliseconds. */
  readonly withinMs: number;
}

/** Returns a provider that streams where it can; otherwise each turn is one request. */
async function sttProviderOf({
  endpoint,
  language,
  keywords = [],
  egress,
  clock,
  fetch,
  counted,
  withinMs,
}: SttWanted): Promise<SttProvider & { readonly streams: boolean }> {
  const { provider } = endpoint;
  const settings = { endpoint, language, keywords };
  const streaming = sttStreamingOf(settings);
  const connect = createProviderConnect({ endpoint, egress, clock });
  if (
    streaming !== undefined &&
    (streaming.optional !== true || (await supportsStreaming({ streaming, provider, connect, clock, withinMs })))
  )
    return { provider, model: streaming.model, streaming, connect, counted: counted(streaming.model), streams: true };
  const protocol = sttProtocolOf(settings);
  const { model } = protocol;
  const asked = connectToWholeTurns({ provider, protocol, fetch, counted: counted(model) });
  return { provider, model, streaming: wholeTurns(model), connect: asked, streams: false };
}
