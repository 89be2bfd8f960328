/** Agents in REST: every field. Pure. What REST has no word for is kept as it is. */
import { createHash } from 'node:crypto';

import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { agentKind, wellKnown, type Agent, type AgentSpec } from '../../crds/index.ts';
import { llmProviders } from '../../crds/providers.ts';
import { reference, seconds, secret, trimmedLabel, trimmedName } from '../codec/conversions.ts';
import { describeFields } from '../codec/describe-fields.ts';
import {
  answerShape,
  bringsSecrets,
  createShape,
  field,
  fieldNamesOf,
  group,
  items,
  matchStored,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Decoding,
  type Encoding,
} from '../codec/fields.ts';
import { present, type Draft } from '../codec/present.ts';
import { displayName, distinct, distinctTexts, named, nameLabel, text } from '../codec/schemas.ts';
import type { KeyRef } from '../codec/secrets.ts';
import type { AgentState } from '../kinds/states.ts';
import { STATE, stateFields } from '../state/answers.ts';
import { attachedTool, inlineTool, MAX_TOOLS } from '../tools/fields.ts';
import { sentAs } from '../validation/unknown-fields.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import type { JsonObject } from '../../platform/json.ts';
import { withRule } from '../validation/validate.ts';
import { lookups } from './lookups.ts';
import { budget, BUDGET } from './budget.ts';
import { release } from './release.ts';
import { FALLBACKS, stt, tts } from './speech.ts';

/** Longest prompt that stands in the resource itself, in characters. */
export const MAX_INLINE_PROMPT = 4096;
/** Bytes. */
const MAX_PROMPT_BYTES = 128 * 1024;

export interface AgentDecoding extends Decoding {
  readonly state: AgentState;
  /** The text behind `systemPromptFrom`; null where it can't be found. */
  readonly longPrompt: string | null;
  /** What `llm.tools` lists. */
  readonly tools: readonly unknown[];
}

export interface AgentEncoding extends Encoding {
  /** Where a long prompt goes. */
  promptRef(text: string): KeyRef;
  /** The text behind the stored `systemPromptFrom`. */
  readonly storedLongPrompt: string | null;
}

const AGENT_NAME = 'What people call the agent; several may have the same name.';
const agentName = displayName(200, AGENT_NAME);
const address = text(2048).regex(/^https?:\/\//);
const label = z.string().optional();
const apiKeyAnswer = label.describe('`"********"` unless the key names the permission `secrets:read`.');
type LlmFallback = NonNullable<AgentSpec['llm']['fallbacks']>[number];

const agentState = z
  .object({
    ...stateFields,
    serving_revision: z.string().optional().describe('The revision that new calls start with; absent where none has been sound yet.'),
    desired_revision: z.string().optional().describe('The revision that the resource and all that it names ask for, as last reported.'),
  })
  .meta({ id: 'AgentState', description: STATE });

const prompt = withRule(z.string().max(MAX_PROMPT_BYTES), (value, loc) => {
  if (Buffer.byteLength(value) > MAX_PROMPT_BYTES)
    return [issues.value(loc, `a prompt may have ${MAX_PROMPT_BYTES} bytes, and this one has ${Buffer.byteLength(value)}`)];
  // In a ConfigMap nothing else would find it; a short one is judged with the rest of the spec.
  return isLong(value) && value.includes('\0') ? [issues.value(loc, 'holds the character U+0000; take it out')] : [];
});

const needsBaseUrl = (provider: unknown, baseURL: unknown): boolean =>
  provider === 'openai_compatible' && (baseURL === undefined || baseURL === null);
const BASE_URL_MISSING = 'model_provider openai_compatible needs a base_url';

const sentTo = (provider: string, baseURL: string | undefined) => ({
  model_provider: provider,
  base_url: baseURL === undefined ? "the provider's own" : originOf(baseURL),
});

const contextTokens = <P extends string>(path: P) =>
  field({
    path,
    create: z.int().min(1024).max(10_000_000).nullish(),
    answer: z.int().optional(),
  });

const llmFallbackFields = {
  model_provider: field({ path: 'provider', create: z.enum(llmProviders).meta({ id: 'LanguageModelProvider' }), answer: z.string() }),
  model_name: field({ path: 'model', create: named(256), answer: z.string() }),
  base_url: field({ path: 'baseURL', create: address.nullish(), answer: label }),
  api_key: field({
    path: 'apiKeySecretRef',
    as: secret,
    create: named(4096).nullish(),
    answer: apiKeyAnswer,
    sentTo: ({ provider, baseURL }: LlmFallback) => sentTo(provider, baseURL),
  }),
  context_tokens: contextTokens('contextTokens'),
};

const llmFallback = withRule(z.object(createShape(llmFallbackFields)).meta({ id: 'LanguageModelFallbackCreate' }), (item, loc) =>
  needsBaseUrl(item.model_provider, item.base_url) ? [issues.value([...loc, 'base_url'], BASE_URL_MISSING)] : [],
);

/** A masked key goes on with the same model, else with the same address, else with the one at its place. */
const continuedFallbacks = (sent: readonly JsonObject[], stored: readonly JsonObject[]): readonly unknown[] =>
  matchStored(sent, stored, [
    (item, { provider, model, baseURL }) =>
      item['model_provider'] === provider && item['model_name'] === model && (item['base_url'] ?? undefined) === baseURL,
    (item, { provider, baseURL }) => item['model_provider'] === provider && (item['base_url'] ?? undefined) === baseURL,
    () => true,
  ]);

const llm = group(
  {
    llm_id: field({
      answer: sentAs(z.string().describe('Id of the model of this agent; it stays the same.'), 'model_name'),
      read: llmIdOf,
    }),
    llm_type: field({ path: 'llm.type', create: z.literal('simple').nullish(), answer: z.string() }),
    model_provider: field({
      path: 'llm.provider',
      create: named(64)
        .nullish()
        .meta({ examples: ['openai', 'azure_openai', 'anthropic', 'google', 'groq', 'openai_compatible'] }),
      answer: z.string(),
    }),
    model_name: field({ path: 'llm.model', create: named(256), update: named(256).optional(), answer: z.string() }),
    model_temperature: field({ path: 'llm.temperature', create: z.number().min(0).max(2).nullish(), answer: z.number().optional() }),
    llm_name: field({ path: 'llm.name', as: trimmedLabel, create: nameLabel(200).nullish(), answer: label }),
    llm_description: field({ path: 'llm.description', create: text(1500).nullish(), answer: label }),
    base_url: field({ path: 'llm.baseURL', create: address.nullish(), answer: label }),
    api_key: field({
      path: 'llm.apiKeySecretRef',
      as: secret,
      create: named(4096).nullish(),
      answer: apiKeyAnswer,
      sentTo: ({ llm: { provider = 'openai', baseURL } = {} }: Draft<AgentSpec>) => {
        const { model_provider, base_url } = sentTo(provider, baseURL);
        return { 'llm.model_provider': model_provider, 'llm.base_url': base_url };
      },
    }),
    fallbacks: field({
      path: 'llm.fallbacks',
      as: items(llmFallbackFields, continuedFallbacks),
      create: z.array(llmFallback).max(3).nullish().describe(FALLBACKS),
      answer: z.array(z.object(answerShape(llmFallbackFields)).meta({ id: 'LanguageModelFallback' })),
      empty: [],
    }),
    max_tokens: field({ path: 'llm.maxTokens', create: z.int().min(1).max(32768).nullish(), answer: z.int().optional() }),
    context_tokens: contextTokens('llm.contextTokens'),
    required_dynamic_data: field({
      path: 'llm.requiredDynamicData',
      create: distinctTexts(named(128), 64, 'names')
        .nullish()
        .describe('Names that a call must bring, unless `dynamic_data_config` looks them up; a call without them is refused. At most 64.'),
      answer: z.array(z.string()).describe('Names that a call must bring, unless `dynamic_data_config` looks them up.'),
      empty: [],
    }),
    system_prompt: field({
      path: 'llm.systemPrompt',
      also: ['llm.systemPromptFrom'],
      create: prompt.nullish().describe('System prompt of the model, at most 128 KiB. May hold `{{name}}` placeholders.'),
      answer: label.describe('System prompt of the model. May hold `{{name}}` placeholders.'),
      read: ({ spec }: Agent, { longPrompt }: AgentDecoding) =>
        spec.llm.systemPromptFrom === undefined ? spec.llm.systemPrompt : (longPrompt ?? undefined),
      write: promptFromRest,
    }),
    tools: field({
      create: withRule(
        z.array(inlineTool).max(MAX_TOOLS),
        distinct('tools', (tool) => tool.tool_id),
      )
        .nullish()
        .describe('Tools that the agent may use: existing ones by `tool_id`, or definitions of new custom ones; at most 64.'),
      answer: z.array(attachedTool).describe('The tools that are attached, whoever attached them.'),
      read: (_: Agent, { tools }: AgentDecoding) => tools,
    }),
  },
  { name: 'LanguageModel', path: 'llm' },
);

const analysisFields = {
  type: field({
    path: 'type',
    create: z.enum(['string', 'enum', 'boolean', 'number']).meta({ id: 'PostCallResultType' }).nullish(),
    answer: z.string(),
    default: 'string',
  }),
  name: field({ path: 'name', create: named(128), answer: z.string() }),
  description: field({ path: 'description', create: text(1500).nullish(), answer: label }),
  system_prompt: field({ path: 'systemPrompt', create: text(4096).nullish(), answer: label }),
  examples: field({ path: 'examples', create: z.array(text(512)).max(16).nullish(), answer: z.array(z.string()), empty: [] }),
  choices: field({
    path: 'choices',
    create: distinctTexts(named(128), 64, 'choices').nullish(),
    answer: z.array(z.string()),
    empty: [],
  }),
};

const analysisItem = withRule(z.object(createShape(analysisFields)).meta({ id: 'PostCallQuestionCreate' }), (item, loc) =>
  item.type === 'enum' && (item.choices ?? []).length === 0 ? [issues.value(loc, 'type enum needs choices')] : [],
);

const fields = {
  ai_agent_id: field({
    answer: z.string().describe('Name of the Agent resource in the namespace of the organisation.'),
    read: ({ metadata }: Agent) => metadata.name,
  }),
  created_by_user_id: field({
    answer: label.describe('Who made it; absent where no user is known.'),
    read: ({ metadata }: Agent) => metadata.annotations?.[wellKnown.createdBy],
  }),
  agent_name: field({
    path: 'displayName',
    as: trimmedName,
    create: agentName,
    update: agentName.optional(),
    answer: z.string().describe(AGENT_NAME),
    read: ({ spec, metadata }: Agent) => spec.displayName?.trim() || metadata.name,
  }),
  state: field({ answer: agentState, read: (_: Agent, { state }: AgentDecoding) => state }),
  language_code: field({
    path: 'language',
    create: text(35)
      .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)
      .nullish(),
    answer: z.string(),
  }),
  timezone: field({
    path: 'timeZone',
    create: text(64).nullish(),
    answer: label,
  }),
  llm,
  stt,
  tts,
  knowledge_base_id: field({ path: 'knowledgeBaseRef', as: reference, create: named(253).nullish(), answer: label }),
  enable_user_interruptions: field({ path: 'interruptions.enabled', create: z.boolean().nullish(), answer: z.boolean() }),
  minimum_speech_duration_for_interruptions: field({
    path: 'interruptions.minSpeechDuration',
    as: seconds,
    create: z.number().min(0).max(15).nullish(),
    answer: z.number().describe('Seconds.'),
  }),
  minimum_words_before_interruption: field({
    path: 'interruptions.minWords',
    create: z.int().min(0).max(5).nullish(),
    answer: z.int(),
  }),
  wait_time_before_detecting_end_of_speech: field({
    path: 'turnDetection.endOfSpeechDelay',
    as: seconds,
    create: z.number().min(0).max(15).nullish(),
    answer: z.number().describe('Seconds.'),
  }),
  turn_detection_mode: field({
    path: 'turnDetection.mode',
    create: z
      .enum(['model', 'silence'])
      .meta({ id: 'TurnDetectionMode' })
      .nullish()
      .describe(
        'How the end of a turn is found: `model` (the default) waits the less the surer a detector is, `silence` always waits for `wait_time_before_detecting_end_of_speech`.',
      ),
    answer: z.string(),
  }),
  ambient_sound: field({
    path: 'ambientSound.source',
    create: z
      .enum(['office', 'cafe', 'restaurant', 'park', 'street', 'home', 'library', 'airport', 'train_station', 'beach', 'none'])
      .meta({ id: 'AmbientSound' })
      .nullish(),
    answer: z.string(),
  }),
  ambient_sound_volume: field({ path: 'ambientSound.volume', create: z.number().min(0).max(2).nullish(), answer: z.number() }),
  enable_recording: field({
    path: 'recording.enabled',
    also: ['recording'],
    create: z.boolean().nullish().describe('Whether calls are recorded, where the organisation allows it; `true` by default.'),
    answer: z.boolean().describe('Whether calls are recorded, where the organisation allows it.'),
  }),
  recording_retention_days: field({
    path: 'recording.retentionDays',
    create: z
      .int()
      .min(1)
      .max(36_500)
      .nullish()
      .describe('Days after the end of a call until its recording is deleted; `null` for as many as the organisation has.'),
    answer: z
      .int()
      .optional()
      .describe('Days after the end of a call until its recording is deleted; absent for as many as the organisation has.'),
  }),
  webhook_url: field({ path: 'webhookURL', create: address.nullish(), answer: label }),
  end_call_after_silence_seconds: field({
    path: 'call.endAfterSilence',
    as: seconds,
    create: z.number().min(10).max(600).nullish().describe('Silence that ends the call; 30 by default.'),
    answer: z.number(),
  }),
  enable_silence_reminder: field({
    path: 'call.silenceReminder.enabled',
    also: ['call.silenceReminder'],
    create: z
      .boolean()
      .nullish()
      .describe('Whether the agent asks once, after half of that silence, if the user is still there; `true` by default.'),
    answer: z.boolean().describe('Whether the agent asks once, after half of that silence, if the user is still there.'),
  }),
  silence_reminder_message: field({
    path: 'call.silenceReminder.message',
    create: text(500)
      .nullish()
      .describe(
        'What it asks then; `null` or empty for "Are you still there?" in the language of the agent. May hold `{{name}}` placeholders.',
      ),
    answer: label.describe('What it asks; absent for "Are you still there?" in its language.'),
  }),
  max_call_duration_seconds: field({
    path: 'call.maxDuration',
    as: seconds,
    create: z.number().min(30).max(7200).nullish(),
    answer: z.number(),
  }),
  welcome_message: field({ path: 'welcomeMessage', create: text(2000).nullish(), answer: label }),
  voicemail_detection_timeout_seconds: field({
    path: 'call.voicemailDetectionTimeout',
    as: seconds,
    create: z.number().min(0).max(300).nullish(),
    answer: z.number(),
  }),
  dynamic_data_config: lookups,
  post_call_analysis: field({
    path: 'postCallAnalysis',
    as: items(analysisFields),
    create: withRule(
      z.array(analysisItem).max(32),
      distinct('names', (item) => item.name),
    ).nullish(),
    answer: z.array(z.object(answerShape(analysisFields)).meta({ id: 'PostCallQuestion' })),
    empty: [],
  }),
  budget: field({
    path: 'budget',
    create: budget.meta({ id: 'DailyBudgetCreate' }).nullish().describe(`${BUDGET}; no limit where absent, or null.`),
    answer: budget.meta({ id: 'DailyBudget' }).optional().describe(`${BUDGET}; absent where there is no limit.`),
  }),
  release,
} as const;

describeFields(agentKind.spec, fields);

export const agentCreate = z.object(createShape(fields));

/** Absent fields keep their value, also within `llm`, `stt` and `tts`; `null` brings back the default. */
export const agentUpdate = z.object(updateShape(fields));

export type AgentUpdate = z.output<typeof agentUpdate>;

export const agentAnswer = z.object(answerShape(fields)).meta({ id: 'Agent' });

export type AgentView = z.output<typeof agentAnswer>;

/** Paths of the Agent's spec in REST's words. */
export const agentFieldNames = fieldNamesOf(fields);

/** The agent object of the contract. */
export function agentToRest(agent: Agent, decoding: AgentDecoding): AgentView {
  return readFields(fields, agent, decoding) as AgentView;
}

/** @see writeFields */
export function agentFromRest(body: AgentUpdate, previous: AgentSpec | undefined, encoding: AgentEncoding): Draft<AgentSpec> {
  return writeFields(fields, body, previous, encoding, requireBaseUrl);
}

function requireBaseUrl(spec: Draft<AgentSpec>): readonly ValidationIssue[] {
  return needsBaseUrl(spec.llm?.provider, spec.llm?.baseURL) ? [issues.value(['body', 'llm', 'base_url'], BASE_URL_MISSING)] : [];
}

const isLong = (sent: string): boolean => Array.from(sent).length > MAX_INLINE_PROMPT;

/** A prompt that is too long for the resource goes into a ConfigMap. */
function promptFromRest(sent: string | null | undefined, spec: Draft<AgentSpec> | undefined, encoding: AgentEncoding): unknown {
  const { systemPrompt: _text, systemPromptFrom, ...others } = spec?.llm ?? {};
  const isStored = sent !== null && systemPromptFrom !== undefined && sent === encoding.storedLongPrompt;
  if (sent === undefined || isStored) return spec;
  const own =
    sent !== null && isLong(sent)
      ? { systemPromptFrom: { configMapKeyRef: encoding.promptRef(sent) } }
      : { systemPrompt: sent ?? undefined };
  return { ...spec, llm: { ...others, ...present(own) } };
}

/** One for each agent, derived from where the agent is: the same after a restore into another cluster. */
function llmIdOf({ metadata }: Agent): string {
  const place = `${metadata.namespace ?? ''}/${metadata.name}`;
  return `llm-${createHash('sha256').update(place).digest('hex').slice(0, 16)}`;
}

/** Whether a request may hold a secret that is stored already. */
export function agentBringsSecrets(body: AgentUpdate): boolean {
  return bringsSecrets(fields, body);
}

/** Every Secret key that an agent refers to. */
export function agentSecretRefs(spec: Draft<AgentSpec>): readonly KeyRef[] {
  return secretRefsOf(fields, spec);
}
