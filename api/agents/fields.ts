/** Lists every field of agents in REST. Fields that REST has no name for stay as they are. Pure. */
import { createHash } from 'node:crypto';

import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { agentKind, MAX_INLINE_PROMPT, wellKnown, type Agent, type AgentSpec } from '../../crds/index.ts';
import { listed, llmProviders } from '../../crds/providers.ts';
import type { SpecProblem } from '../../crds/spec-problem.ts';
import {
  atSamePlace,
  choice,
  days,
  items,
  listUnlessEmpty,
  number,
  reference,
  seconds,
  secret,
  trimmedLabel,
  trimmedName,
  whether,
  whole,
} from '../codec/conversions.ts';
import { durationOfSeconds, secondsOf } from '../codec/duration.ts';
import {
  answerShape,
  bringsSecrets,
  createShape,
  fieldNamesOf,
  matchStored,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Conversion,
  type Decoding,
  type Encoding,
} from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { present } from '../../platform/present.ts';
import type { Draft } from '../codec/draft.ts';
import { distinct, propertyOf, schemaAt } from '../codec/rest-schema.ts';
import type { KeyRef } from '../codec/secrets.ts';
import type { AgentState } from '../kinds/states.ts';
import { STATE, stateFields } from '../state/answers.ts';
import { attachedTool, inlineTool, MAX_TOOLS } from '../tools/fields.ts';
import { sentAs, volatile } from '../validation/unknown-fields.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';
import { handoffs } from './handoffs.ts';
import { lookups } from './lookups.ts';
import { realtime } from './realtime.ts';
import { redaction } from './redaction.ts';
import { release } from './release.ts';
import { stt, tts } from './speech.ts';

export const MAX_PROMPT_BYTES = 128 * 1024;

export interface AgentDecoding extends Decoding {
  readonly state: AgentState;
  /** The text that `systemPromptFrom` refers to; null where it can't be found. */
  readonly longPrompt: string | null;
  readonly tools: readonly unknown[];
}

export interface AgentEncoding extends Encoding {
  promptRef(text: string): KeyRef;
  /** The text that the stored `systemPromptFrom` refers to. */
  readonly storedLongPrompt: string | null;
}

const AMBIENT_SOUND = 'What is heard behind the agent.';
const AGENT_NAME = 'What people call the agent; several may have the same name.';

const agentState = volatile(
  z
    .object({
      ...stateFields,
      serving_revision: z.string().optional().describe('The revision that new calls start with; absent where none has been sound yet.'),
      desired_revision: z.string().optional().describe('The revision that the resource and all that it names ask for, as last reported.'),
    })
    .meta({ id: 'AgentState', description: STATE }),
);

const prompt = withRule(z.string().max(MAX_PROMPT_BYTES), (value, loc) => {
  if (Buffer.byteLength(value) > MAX_PROMPT_BYTES)
    return [issues.value(loc, `a prompt may have ${MAX_PROMPT_BYTES} bytes, and this one has ${Buffer.byteLength(value)}`)];
  // No other check sees a text in a ConfigMap; a short prompt is checked with the rest of the spec.
  return isLong(value) && value.includes('\0') ? [issues.value(loc, 'holds the character U+0000; take it out')] : [];
});

const needsBaseUrl = (provider: unknown, baseURL: unknown): boolean =>
  provider === 'openai_compatible' && (baseURL === undefined || baseURL === null);
const BASE_URL_MISSING = 'model_provider openai_compatible needs a base_url';

const sentTo = (provider: string | undefined, baseURL: string | undefined) => ({
  model_provider: provider,
  base_url: baseURL === undefined ? "the provider's own" : originOf(baseURL),
});

const { field, answered, restField, group } = fieldsOf<typeof agentKind.spec, Agent, AgentDecoding, AgentEncoding>(agentKind.spec);
const fallback = fieldsOf(schemaAt(agentKind.spec, 'llm.fallbacks.*'));
const question = fieldsOf(schemaAt(agentKind.spec, 'postCallAnalysis.*'));
const reminder = fieldsOf(schemaAt(agentKind.spec, 'call.silenceReminder.reminders.*'));
const spending = fieldsOf(schemaAt(agentKind.spec, 'budget'));

const PROVIDERS = `${listed(llmProviders, 'or')}.`;
const fallbackModel = z.enum(llmProviders).meta({ id: 'LanguageModelProvider' });

const knownProvider = withRule(z.string().min(1).max(64), (provider, loc) =>
  llmProviders.some((known) => known === provider)
    ? []
    : [issues.value(loc, `${JSON.stringify(provider)} is not a known provider; use one of ${llmProviders.join(', ')}`)],
) as z.ZodType as z.ZodType<(typeof llmProviders)[number]>;

/** Models are driven in one way, which the resource doesn't name. */
const llmType = z.enum(['simple']);
const LLM_TYPE = 'How the model is driven.';

const llm = group(
  {
    llm_id: answered(sentAs(z.string().describe('Id of the model of this agent; it stays the same.'), 'model_name'), llmIdOf),
    llm_type: restField({
      create: llmType.nullish().describe(`${LLM_TYPE} Default: \`simple\`.`),
      answer: llmType.describe(LLM_TYPE),
      read: () => 'simple' as const,
    }),
    model_provider: field('llm.provider', { body: () => knownProvider, answer: z.string(), text: PROVIDERS }),
    model_name: field('llm.model'),
    model_temperature: field('llm.temperature', { as: number }),
    llm_name: field('llm.displayName', { as: trimmedLabel }),
    llm_description: field('llm.description'),
    base_url: field('llm.baseURL'),
    api_key: field('llm.apiKeySecretRef', {
      as: secret,
      sentTo: ({ llm: { provider = 'openai', baseURL } = {} }) => {
        const { model_provider, base_url } = sentTo(provider, baseURL);
        return { 'llm.model_provider': model_provider, 'llm.base_url': base_url };
      },
    }),
    fallbacks: field('llm.fallbacks', {
      as: items(
        {
          model_provider: fallback.field('provider', { body: () => fallbackModel, answer: z.string(), text: PROVIDERS }),
          model_name: fallback.field('model'),
          base_url: fallback.field('baseURL'),
          api_key: fallback.field('apiKeySecretRef', { as: secret, sentTo: ({ provider, baseURL }) => sentTo(provider, baseURL) }),
          model_temperature: fallback.field('temperature', { as: number, text: "That of the agent's first model where absent." }),
          max_tokens: fallback.field('maxTokens', { text: "Longest answer, in tokens; that of the agent's first model where absent." }),
          context_tokens: fallback.field('contextTokens'),
        },
        {
          name: 'LanguageModelFallback',
          // A masked key stays with the fallback of the same model, else of the same address, else at the same place.
          match: (sent, stored) =>
            matchStored(sent, stored, [
              (item, { provider, model, baseURL }) =>
                item.model_provider === provider && item.model_name === model && (item.base_url ?? undefined) === baseURL,
              (item, { provider, baseURL }) => item.model_provider === provider && (item.base_url ?? undefined) === baseURL,
              () => true,
            ]),
          rule: (item, loc) =>
            needsBaseUrl(item.model_provider, item.base_url) ? [issues.value([...loc, 'base_url'], BASE_URL_MISSING)] : [],
        },
      ),
      empty: [],
    }),
    max_tokens: field('llm.maxTokens'),
    context_tokens: field('llm.contextTokens'),
    required_dynamic_data: field('requiredDynamicData', {
      text: 'Names that a call must bring, unless `dynamic_data_config` looks them up; a call without them is refused.',
      empty: [],
    }),
    system_prompt: field('llm.systemPrompt', {
      also: ['llm.systemPromptFrom'],
      body: () => prompt,
      text: {
        body: 'System prompt of the model, at most 128 KiB. May hold `{{name}}` placeholders.',
        answer: 'System prompt of the model. May hold `{{name}}` placeholders.',
      },
      read: ({ spec }, { longPrompt }) => (spec.llm.systemPromptFrom === undefined ? spec.llm.systemPrompt : (longPrompt ?? undefined)),
      write: promptFromRest,
    }),
    tools: restField({
      create: withRule(
        z.array(inlineTool).max(MAX_TOOLS),
        distinct('tools', (tool) => tool.tool_id),
      )
        .nullish()
        .describe('Tools that the agent may use: existing ones by `tool_id`, or definitions of new custom ones; at most 64.'),
      answer: z.array(attachedTool).describe('The tools that are attached, whoever attached them.'),
      read: (_, { tools }) => tools as z.output<typeof attachedTool>[],
    }),
  },
  { name: 'LanguageModel', path: 'llm' },
);

/** Places by their names in REST, whose `none` is an absent one in the resource. */
const PLACES = {
  office: 'Office',
  cafe: 'Cafe',
  restaurant: 'Restaurant',
  park: 'Park',
  street: 'Street',
  home: 'Home',
  library: 'Library',
  airport: 'Airport',
  train_station: 'TrainStation',
  beach: 'Beach',
} as const;
const placeConversion = choice(PLACES);
const placeOrNone = z.enum([...(Object.keys(PLACES) as (keyof typeof PLACES)[]), 'none']);
const ambientSound: Conversion<(typeof PLACES)[keyof typeof PLACES], z.output<typeof placeOrNone>> = {
  body: () => placeOrNone,
  answer: () => placeOrNone,
  read: (stored, reading) => placeConversion.read(stored, reading),
  write: (sent, at, encoding) => (sent === 'none' ? undefined : placeConversion.write(sent, at, encoding)),
};

/** REST has one number for the mode and the time: 0 switches the detection off, and leaves the time as it is for later. */
const voicemailSeconds: Conversion<AgentSpec['call']['voicemailDetection'], number> = {
  body: (stored) => {
    const { maximum } = z.toJSONSchema(seconds.body(propertyOf(stored, 'timeout')));
    return z
      .number()
      .min(0)
      .max(maximum ?? 0);
  },
  answer: () => z.number(),
  read: ({ mode, timeout }) => (mode === 'Never' ? 0 : secondsOf(timeout)),
  write: (sent, { stored }) =>
    sent === 0
      ? { ...stored, mode: 'Never' }
      : { ...stored, mode: 'Always', timeout: durationOfSeconds(Math.max(1, sent), stored?.timeout) },
  below: { '.mode': '', '.timeout': '' },
};
const VOICEMAIL = 'How long after the start of an outbound phone call voicemail is recognised, in seconds; 0 switches it off.';

type Question = NonNullable<AgentSpec['postCallAnalysis']>[number];
const questionTypes = { string: 'String', enum: 'Enum', boolean: 'Boolean', number: 'Number' } as const;

const BUDGET = 'What calls may cost in a day of `timezone`: once it is spent, new ones are refused until midnight';

const fields = {
  ai_agent_id: answered(
    z.string().describe('Name of the Agent resource in the namespace of the organisation.'),
    ({ metadata }) => metadata.name,
  ),
  created_by_user_id: answered(
    z.string().optional().describe('Who made it; absent where no user is known.'),
    ({ metadata }) => metadata.annotations?.[wellKnown.createdBy],
  ),
  agent_name: field('displayName', {
    as: trimmedName,
    required: true,
    text: { body: `${AGENT_NAME} Spaces around it are dropped.`, answer: AGENT_NAME },
    answer: z.string(),
    read: ({ spec, metadata }) => spec.displayName?.trim() || metadata.name,
  }),
  state: answered(agentState, (_, { state }) => state),
  language_code: field('language'),
  timezone: field('timeZone'),
  llm,
  realtime,
  stt,
  tts,
  knowledge_base_id: field('knowledgeBaseRef', { as: reference }),
  handoffs,
  enable_user_interruptions: field('interruptions.mode', {
    as: whether('Always', 'Never'),
    text: 'Whether the user may interrupt the agent.',
  }),
  minimum_speech_duration_for_interruptions: field('interruptions.minSpeechDuration', { as: seconds }),
  minimum_words_before_interruption: field('interruptions.minWords'),
  interruption_acknowledgements: field('interruptions.acknowledgements', { empty: [] }),
  interruption_stop_words: field('interruptions.stopWords', {
    text: 'Words and phrases that interrupt at once, however short the speech is.',
    empty: [],
  }),
  wait_time_before_detecting_end_of_speech: field('turnDetection.endOfSpeechDelay', {
    as: seconds,
    text: 'Silence after which the user is taken to have finished, where nothing else is known. With the mode `model` 60 % of it when the detector is sure, up to 3 s or this delay, if that is longer, when it is not; below 300 ms as with the mode `silence`.',
  }),
  turn_detection_mode: field('turnDetection.mode', {
    as: choice({ model: 'Model', silence: 'Silence' }),
    id: 'TurnDetectionMode',
    text: 'How the end of a turn is found: `model` waits the less the surer a detector is, `silence` always waits for `wait_time_before_detecting_end_of_speech`.',
  }),
  ambient_sound: field('ambientSound.source', {
    as: ambientSound,
    id: 'AmbientSound',
    empty: 'none',
    text: { body: `${AMBIENT_SOUND} Default: \`none\`.`, answer: AMBIENT_SOUND },
  }),
  ambient_sound_volume: field('ambientSound.volume', { as: number }),
  enable_recording: field('recording.mode', { as: whether('Always', 'Never'), also: ['recording'] }),
  recording_retention_days: field('recording.retention', { as: days }),
  redaction,
  webhook_url: field('webhookURL'),
  end_call_after_silence_seconds: field('call.endAfterSilence', { as: seconds }),
  enable_silence_reminder: field('call.silenceReminder.mode', {
    as: whether('Always', 'Never'),
    also: ['call.silenceReminder'],
    text: 'Whether the agent asks if the user is still there: once, after half of that silence, or as `silence_reminders` says.',
  }),
  silence_reminder_message: field('call.silenceReminder.message'),
  silence_reminders: field('call.silenceReminder.reminders', {
    as: items(
      {
        after_seconds: reminder.field('after', { as: seconds }),
        message: reminder.field('message', {
          text: 'What the agent says; `silence_reminder_message` where absent or empty. May hold `{{name}}` placeholders.',
        }),
      },
      { name: 'SilenceReminder', match: atSamePlace },
    ),
    text: 'When the agent asks during one silence; where absent once, after half of it.',
  }),
  max_call_duration_seconds: field('call.maxDuration', { as: seconds }),
  welcome_message: field('welcomeMessage'),
  voicemail_detection_timeout_seconds: field('call.voicemailDetection', {
    as: voicemailSeconds,
    text: { body: `${VOICEMAIL} Default: \`90\`.`, answer: VOICEMAIL },
  }),
  voicemail_message: field('call.voicemailDetection.message'),
  dynamic_data_config: lookups,
  post_call_analysis: field('postCallAnalysis', {
    as: items(
      {
        type: question.field('type', { as: choice(questionTypes), id: 'PostCallResultType', required: false, default: 'String' }),
        name: question.field('name'),
        description: question.field('description'),
        system_prompt: question.field('systemPrompt'),
        examples: question.field('examples', { empty: [] }),
        choices: question.field('choices', {
          as: listUnlessEmpty,
          empty: [],
          text: 'The allowed results of type `enum`; without effect with another type.',
          write: choicesFromRest,
        }),
      },
      {
        name: 'PostCallQuestion',
        rule: (item, loc) =>
          item.type === 'enum' && (item.choices ?? []).length === 0 ? [issues.value(loc, 'type enum needs choices')] : [],
      },
    ),
    empty: [],
  }),
  budget: field('budget', {
    as: whole(
      {
        daily: spending.field('daily', { text: 'An amount, such as `25.00`.' }),
        currency: spending.field('currency', { text: 'ISO 4217; that of the prices of the installation.' }),
      },
      { name: 'DailyBudget' },
    ),
    text: { body: `${BUDGET}; no limit where absent, or null.`, answer: `${BUDGET}; absent where there is no limit.` },
  }),
  release,
} as const;

export const agentCreate = z.object(createShape(fields));

/** Absent fields keep their value, also within `llm`, `stt` and `tts`; `null` brings back the default. */
export const agentUpdate = z.object(updateShape(fields));

export type AgentUpdate = z.output<typeof agentUpdate>;

export const agentAnswer = z.object(answerShape(fields)).meta({ id: 'Agent' });

export type AgentView = z.output<typeof agentAnswer>;

/** Maps paths of the Agent's spec to REST's names. */
export const agentFieldNames = fieldNamesOf(fields);

export function agentToRest(agent: Agent, decoding: AgentDecoding): AgentView {
  return readFields(fields, agent, decoding) as AgentView;
}

/** Writes the fields of a request into the spec. @see writeFields */
export function agentFromRest(body: AgentUpdate, previous: AgentSpec | undefined, encoding: AgentEncoding): Draft<AgentSpec> {
  return writeFields(fields, body, previous, encoding, requireBaseUrl);
}

function requireBaseUrl(spec: Draft<AgentSpec>): readonly ValidationIssue[] {
  return needsBaseUrl(spec.llm?.provider, spec.llm?.baseURL) ? [issues.value(['body', 'llm', 'base_url'], BASE_URL_MISSING)] : [];
}

const isLong = (sent: string): boolean => Array.from(sent).length > MAX_INLINE_PROMPT;

/** Moves a prompt that is too long for the resource into a ConfigMap. */
function promptFromRest(
  sent: string | null | undefined,
  spec: Draft<AgentSpec> | undefined,
  encoding: AgentEncoding,
): Draft<AgentSpec> | undefined {
  const { systemPrompt: _text, systemPromptFrom, ...others } = spec?.llm ?? {};
  const isStored = sent !== null && systemPromptFrom !== undefined && sent === encoding.storedLongPrompt;
  if (sent === undefined || isStored) return spec;
  const own =
    sent !== null && isLong(sent)
      ? { systemPromptFrom: { configMapKeyRef: encoding.promptRef(sent) } }
      : { systemPrompt: sent ?? undefined };
  return { ...spec, llm: { ...others, ...present(own) } };
}

/** Returns a remark on choices that {@link choicesFromRest} leaves out. */
export function unusedChoices({ post_call_analysis: questions }: AgentUpdate): readonly SpecProblem[] {
  return (questions ?? []).flatMap(({ type, choices }, index) => {
    if (type === 'enum' || choices === undefined || choices === null || choices.length === 0) return [];
    return [{ path: `spec.postCallAnalysis[${index}].choices`, message: `has no effect with the type ${type ?? 'string'}` }];
  });
}

/** Leaves out choices that have no effect: the resource refuses them. */
function choicesFromRest(
  sent: readonly string[] | null | undefined,
  { choices: _choices, ...others }: Draft<Question> = {},
  _encoding: Encoding,
  { type }: { readonly type?: unknown },
): Draft<Question> {
  return { ...others, ...(type === 'enum' && { choices: [...(sent ?? [])] }) };
}

/** Derives one id for each agent from where the agent is: it stays the same after a restore into another cluster. */
function llmIdOf({ metadata }: Agent): string {
  const place = `${metadata.namespace ?? ''}/${metadata.name}`;
  return `llm-${createHash('sha256').update(place).digest('hex').slice(0, 16)}`;
}

/** Returns whether a request may hold a secret that is stored already. */
export function agentBringsSecrets(body: AgentUpdate): boolean {
  return bringsSecrets(fields, body);
}

export function agentSecretRefs(spec: Draft<AgentSpec>): readonly KeyRef[] {
  return secretRefsOf(fields, spec);
}
