/** Agents: REST ↔ AgentSpec, both ways, without I/O. What REST has no word for is kept as it is. */
import { createHash } from 'node:crypto';

import { wellKnown, type Agent, type AgentSpec } from '../../crds/index.ts';
import { durationOfSeconds, secondsOf } from '../codec/duration.ts';
import { originOf } from '../../crds/address.ts';
import { unchangedNothing } from '../codec/headers.ts';
import { present, updated, type Draft } from '../codec/present.ts';
import { headerUses, movedSecrets, type SecretUse } from '../codec/secret-origins.ts';
import { refId, type KeyRef, type SecretValues, type SecretWriter } from '../codec/secrets.ts';
import { mask } from '../http/caller.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { lookupsFromRest, lookupToRest } from './dynamic-data.ts';
import type { AgentUpdate, AnalysisItem } from './schema.ts';

/** Longest prompt that stands in the resource itself, in characters. */
export const maxInlinePrompt = 4096;

export interface AgentReading {
  readonly secrets: SecretValues;
  /** The text behind `systemPromptFrom`; null where it can't be found. */
  readonly longPrompt: string | null;
  /** What `llm.tools` lists. */
  readonly tools: readonly unknown[];
}

/** The agent object of the contract. */
export function agentToRest(agent: Agent, reading: AgentReading) {
  const { spec, metadata } = agent;
  const { llm, speechToText: stt, textToSpeech: tts, interruptions, ambientSound, call } = spec;
  const { secrets } = reading;
  return {
    ai_agent_id: metadata.name,
    created_by_user_id: metadata.annotations?.[wellKnown.createdBy],
    agent_name: spec.displayName ?? metadata.name,
    language_code: spec.language,
    llm: {
      llm_id: llmIdOf(agent),
      llm_type: llm.type,
      model_provider: llm.provider,
      model_name: llm.model,
      model_temperature: llm.temperature,
      llm_name: llm.name,
      llm_description: llm.description,
      base_url: llm.baseURL,
      api_key: llm.apiKeySecretRef === undefined ? undefined : (secrets.read(llm.apiKeySecretRef) ?? mask),
      max_tokens: llm.maxTokens,
      required_dynamic_data: llm.requiredDynamicData ?? [],
      system_prompt: llm.systemPromptFrom === undefined ? llm.systemPrompt : (reading.longPrompt ?? undefined),
      tools: reading.tools,
    },
    stt: { provider: stt.provider, model: stt.model },
    tts: {
      provider: tts.provider,
      voice_id: tts.voice?.id,
      voice_name: tts.voice?.name,
      model_name: tts.model,
      voice_temperature: tts.temperature,
    },
    knowledge_base_id: spec.knowledgeBaseRef?.name,
    enable_user_interruptions: interruptions.enabled,
    minimum_speech_duration_for_interruptions: secondsOf(interruptions.minSpeechDuration),
    minimum_words_before_interruption: interruptions.minWords,
    wait_time_before_detecting_end_of_speech: secondsOf(spec.turnDetection.endOfSpeechDelay),
    ambient_sound: ambientSound.source,
    ambient_sound_volume: ambientSound.volume,
    webhook_url: spec.webhookURL,
    end_call_after_silence_seconds: secondsOf(call.endAfterSilence),
    enable_silence_reminder: call.silenceReminder.enabled,
    silence_reminder_message: call.silenceReminder.message,
    max_call_duration_seconds: secondsOf(call.maxDuration),
    welcome_message: spec.welcomeMessage,
    voicemail_detection_timeout_seconds: secondsOf(call.voicemailDetectionTimeout),
    dynamic_data_config: (spec.dynamicData ?? []).map((lookup) => lookupToRest(lookup, secrets)),
    post_call_analysis: (spec.postCallAnalysis ?? []).map((item) => ({
      type: item.type,
      name: item.name,
      description: item.description,
      system_prompt: item.systemPrompt,
      examples: item.examples ?? [],
      choices: item.choices ?? [],
    })),
  };
}

export type AgentView = ReturnType<typeof agentToRest>;

/** One for each agent, derived from where the agent is: the same after a restore into another cluster. */
function llmIdOf({ metadata }: Agent): string {
  return `llm-${createHash('sha256')
    .update(`${metadata.namespace ?? ''}/${metadata.name}`)
    .digest('hex')
    .slice(0, 16)}`;
}

export interface AgentEncoding {
  /** `metadata.name`: what an agent without a name of its own is called. */
  readonly name: string;
  readonly secrets: SecretWriter;
  /** Where a long prompt goes. */
  promptRef(text: string): KeyRef;
  /** The text behind the stored `systemPromptFrom`. */
  readonly storedLongPrompt: string | null;
  readonly found: ValidationIssue[];
}

/**
 * @param previous the stored spec; everything that the request doesn't name is kept, byte for byte
 * @returns the whole spec as it should be; failures are added to `encoding.found`
 */
export function agentFromRest(body: AgentUpdate, previous: AgentSpec | undefined, encoding: AgentEncoding): Draft<AgentSpec> {
  const { interruptions, turnDetection, ambientSound, call } = previous ?? {};
  const draft = {
    ...previous,
    displayName: updated(body.agent_name, previous?.displayName, (sent) =>
      sent === encoding.name && previous?.displayName === undefined ? undefined : sent,
    ),
    language: updated(body.language_code, previous?.language, same),
    welcomeMessage: updated(body.welcome_message, previous?.welcomeMessage, same),
    llm: llmFromRest(body.llm, previous?.llm, encoding),
    speechToText: present({
      ...previous?.speechToText,
      ...speech(body.stt, previous?.speechToText),
      model: updated(body.stt?.model, previous?.speechToText.model, same),
    }),
    textToSpeech: present({
      ...previous?.textToSpeech,
      ...speech(body.tts, previous?.textToSpeech),
      model: updated(body.tts?.model_name, previous?.textToSpeech.model, same),
      temperature: updated(body.tts?.voice_temperature, previous?.textToSpeech.temperature, same),
      voice: unlessEmpty(
        {
          id: updated(body.tts?.voice_id, previous?.textToSpeech.voice?.id, same),
          name: updated(body.tts?.voice_name, previous?.textToSpeech.voice?.name, same),
        },
        previous?.textToSpeech.voice,
      ),
    }),
    knowledgeBaseRef: updated(body.knowledge_base_id, previous?.knowledgeBaseRef, (name) => ({ name })),
    interruptions: unlessEmpty({
      enabled: updated(body.enable_user_interruptions, interruptions?.enabled, same),
      minSpeechDuration: seconds(body.minimum_speech_duration_for_interruptions, interruptions?.minSpeechDuration),
      minWords: updated(body.minimum_words_before_interruption, interruptions?.minWords, same),
    }),
    turnDetection: unlessEmpty({
      endOfSpeechDelay: seconds(body.wait_time_before_detecting_end_of_speech, turnDetection?.endOfSpeechDelay),
    }),
    ambientSound: unlessEmpty({
      source: updated(body.ambient_sound, ambientSound?.source, same),
      volume: updated(body.ambient_sound_volume, ambientSound?.volume, same),
    }),
    call: unlessEmpty({
      endAfterSilence: seconds(body.end_call_after_silence_seconds, call?.endAfterSilence),
      silenceReminder: unlessEmpty(
        {
          enabled: updated(body.enable_silence_reminder, call?.silenceReminder.enabled, same),
          message: updated(body.silence_reminder_message, call?.silenceReminder.message, same),
        },
        call?.silenceReminder,
      ),
      maxDuration: seconds(body.max_call_duration_seconds, call?.maxDuration),
      voicemailDetectionTimeout: seconds(body.voicemail_detection_timeout_seconds, call?.voicemailDetectionTimeout),
    }),
    webhookURL: updated(body.webhook_url, previous?.webhookURL, same),
    dynamicData: updated(body.dynamic_data_config, previous?.dynamicData, (items) =>
      unlessNone(lookupsFromRest(items, previous?.dynamicData ?? [], encoding), previous?.dynamicData),
    ),
    postCallAnalysis: updated(body.post_call_analysis, previous?.postCallAnalysis, (items) =>
      unlessNone(
        items.map((item) => analysisFromRest(item, previous?.postCallAnalysis)),
        previous?.postCallAnalysis,
      ),
    ),
  };
  if (draft.llm.provider === 'openai_compatible' && draft.llm.baseURL === undefined) {
    encoding.found.push(issues.value(['body', 'llm', 'base_url'], 'model_provider openai_compatible needs a base_url'));
  }
  const desired = present(draft) as Draft<AgentSpec>;
  if (previous !== undefined) encoding.found.push(...movedSecrets(secretUses(previous), secretUses(desired), encoding.secrets));
  return desired;
}

/** Where an agent sends which secret. REST has no field for the keys of speech, nor for their addresses. */
function secretUses({ llm, speechToText, textToSpeech, dynamicData = [] }: Draft<AgentSpec>): readonly SecretUse[] {
  const uses = dynamicData.flatMap(({ headers, url }, index) =>
    headerUses(headers, { url, field: 'url', loc: ['body', 'dynamic_data_config', index, 'headers'] }),
  );
  if (llm?.apiKeySecretRef !== undefined) {
    const origin = {
      'llm.model_provider': llm.provider ?? defaultProvider,
      'llm.base_url': llm.baseURL === undefined ? "the provider's own" : originOf(llm.baseURL),
    };
    uses.push({ id: refId(llm.apiKeySecretRef as KeyRef), loc: ['body', 'llm', 'api_key'], origin });
  }
  for (const [part, provider] of Object.entries({ stt: speechToText, tts: textToSpeech })) {
    if (provider?.apiKeySecretRef === undefined) continue;
    const origin = { [`${part}.provider`]: provider.provider };
    uses.push({ id: refId(provider.apiKeySecretRef as KeyRef), loc: ['body', part, 'provider'], origin, unsendable: true });
  }
  return uses;
}

/** What the resource's schema fills in. */
const defaultProvider = 'openai';

const same = <T>(value: T): T => value;

function seconds(sent: number | null | undefined, stored: string | undefined): string | undefined {
  return updated(sent, stored, (value) => durationOfSeconds(value, stored));
}

function speech(
  sent: { readonly provider?: string | undefined } | undefined,
  previous: { readonly provider: string } | undefined,
): { provider: string | undefined } {
  return { provider: sent?.provider ?? previous?.provider };
}

function llmFromRest(sent: AgentUpdate['llm'], previous: AgentSpec['llm'] | undefined, encoding: AgentEncoding): Draft<AgentSpec['llm']> {
  return present({
    ...previous,
    type: updated(sent?.llm_type, previous?.type, same),
    provider: updated(sent?.model_provider, previous?.provider, same),
    model: sent?.model_name ?? previous?.model,
    name: updated(sent?.llm_name, previous?.name, same),
    description: updated(sent?.llm_description, previous?.description, same),
    baseURL: updated(sent?.base_url, previous?.baseURL, same),
    apiKeySecretRef: updated(sent?.api_key, previous?.apiKeySecretRef, (value) => apiKeyRef(value, previous?.apiKeySecretRef, encoding)),
    temperature: updated(sent?.model_temperature, previous?.temperature, same),
    maxTokens: updated(sent?.max_tokens, previous?.maxTokens, same),
    requiredDynamicData: updated(sent?.required_dynamic_data, previous?.requiredDynamicData, (names) =>
      unlessNone(names, previous?.requiredDynamicData),
    ),
    ...promptFromRest(sent?.system_prompt, previous, encoding),
  });
}

function apiKeyRef(value: string, previous: KeyRef | undefined, { secrets, found }: AgentEncoding): KeyRef | undefined {
  if (value !== mask) return secrets.write('llm-api-key', value, previous);
  if (previous === undefined) found.push(unchangedNothing(['body', 'llm', 'api_key']));
  return previous;
}

type PromptFields = Pick<Draft<AgentSpec['llm']>, 'systemPrompt' | 'systemPromptFrom'>;

function promptFromRest(sent: string | null | undefined, previous: AgentSpec['llm'] | undefined, encoding: AgentEncoding): PromptFields {
  const { systemPrompt, systemPromptFrom } = previous ?? {};
  if (sent === undefined) return { systemPrompt, systemPromptFrom };
  if (sent === null) return { systemPrompt: undefined, systemPromptFrom: undefined };
  if (systemPromptFrom !== undefined && sent === encoding.storedLongPrompt) return { systemPrompt, systemPromptFrom };
  if (Array.from(sent).length <= maxInlinePrompt) return { systemPrompt: sent, systemPromptFrom: undefined };
  return { systemPrompt: undefined, systemPromptFrom: { configMapKeyRef: encoding.promptRef(sent) } };
}

type Analysis = NonNullable<AgentSpec['postCallAnalysis']>[number];

function analysisFromRest(item: AnalysisItem, stored: readonly Analysis[] | undefined): Analysis {
  const before = stored?.find(({ name }) => name === item.name);
  return present({
    name: item.name,
    type: item.type ?? 'string',
    description: item.description ?? undefined,
    systemPrompt: item.system_prompt ?? undefined,
    examples: unlessNone(item.examples ?? [], before?.examples),
    choices: unlessNone(item.choices ?? [], before?.choices),
  });
}

/** An empty list where there was none stays none: both read the same. */
function unlessNone<T>(items: readonly T[], previous: readonly unknown[] | undefined): T[] | undefined {
  return items.length === 0 && previous === undefined ? undefined : [...items];
}

/** Without undefined fields; none at all where none is left, unless there was an empty one. */
function unlessEmpty<T extends object>(fields: T, previous?: object): Partial<T> | undefined {
  const result = present(fields) as Partial<T>;
  return Object.keys(result).length === 0 && (previous === undefined || Object.keys(previous).length > 0) ? undefined : result;
}

/** Every Secret key that an agent refers to. */
export function agentSecretRefs(spec: Draft<AgentSpec>): readonly KeyRef[] {
  const headers = (spec.dynamicData ?? []).flatMap((lookup) => lookup.headers ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef);
  const keys = [spec.llm?.apiKeySecretRef, spec.speechToText?.apiKeySecretRef, spec.textToSpeech?.apiKeySecretRef];
  return [...keys, ...headers].filter((ref) => ref !== undefined) as readonly KeyRef[];
}
