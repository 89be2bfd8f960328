/** Bodies of the agents' routes. Order of the fields = order in which failures are reported. */
import { z } from 'zod';

import { lookupMethods } from '../../crds/http-method.ts';
import { LONGEST_QUERY_VALUE } from '../../crds/limits.ts';
import { distinct, headerMap } from '../codec/schemas.ts';
import { inlineTool } from '../tools/fields.ts';
import { issues } from '../validation/issue.ts';
import { inAnyCase } from '../validation/normalize.ts';
import { withRule } from '../validation/validate.ts';

export const maxTools = 64;
/** Bytes. */
export const maxPromptBytes = 128 * 1024;

const text = (max: number) => z.string().max(max);
const named = (max: number) => z.string().min(1).max(max);
const address = () =>
  z
    .string()
    .max(2048)
    .regex(/^https?:\/\//);
/** Longest key as in the resources. */
const map = <T extends z.ZodType>(value: T, maxProperties: number) => z.record(z.string().max(128), value).meta({ maxProperties });
const providers = ['deepgram', 'openai', 'azure', 'google', 'elevenlabs', 'cartesia', 'openai_compatible'] as const;

const prompt = withRule(z.string().max(maxPromptBytes), (value, loc) =>
  Buffer.byteLength(value) > maxPromptBytes
    ? [issues.value(loc, `a prompt may have ${maxPromptBytes} bytes, and this one has ${Buffer.byteLength(value)}`)]
    : [],
);

const llm = {
  llm_type: z.literal('simple').nullish(),
  model_provider: named(64)
    .nullish()
    .meta({ examples: ['openai', 'azure_openai', 'anthropic', 'google', 'groq', 'openai_compatible'] }),
  model_name: named(256),
  model_temperature: z.number().min(0).max(2).nullish(),
  llm_name: text(200).nullish(),
  llm_description: text(1500).nullish(),
  base_url: address().nullish(),
  api_key: named(4096).nullish(),
  max_tokens: z.int().min(1).max(32768).nullish(),
  required_dynamic_data: withRule(
    z.array(named(128)).max(64),
    distinct('names', (name) => name),
  ).nullish(),
  system_prompt: prompt.nullish(),
  tools: withRule(
    z.array(inlineTool).max(maxTools),
    distinct('tools', (tool) => tool.tool_id),
  ).nullish(),
};

const stt = { provider: z.enum(providers), model: text(256).nullish() };

const tts = {
  provider: z.enum(providers),
  voice_id: text(256).nullish(),
  voice_name: text(256).nullish(),
  model_name: text(256).nullish(),
  voice_temperature: z.number().min(0).max(2).nullish(),
};

const mostMilliseconds = 30_000;

const timeout = withRule(
  z.int().describe(`Milliseconds, from 1 to ${mostMilliseconds}; 5000 where absent.`).meta({ minimum: 1, maximum: mostMilliseconds }),
  (milliseconds, loc) =>
    milliseconds >= 1 && milliseconds <= mostMilliseconds
      ? []
      : [issues.value(loc, `timeout is in milliseconds, from 1 to ${mostMilliseconds}`)],
);

const dynamicDataItem = z.object({
  url: address(),
  method: inAnyCase(z.enum(lookupMethods)).nullish(),
  timeout: timeout.nullish(),
  headers: headerMap.nullish(),
  body: z.record(z.string(), z.unknown()).meta({ maxProperties: 64 }).nullish(),
  query: map(z.union([text(LONGEST_QUERY_VALUE), z.number(), z.boolean()]), 32).nullish(),
  cache: z.boolean().nullish(),
  response_data: withRule(
    z.array(z.object({ name: named(128), data: named(512), context: text(1500).nullish() })).max(32),
    distinct('names', (item) => item.name),
  ).nullish(),
});

const analysisItem = withRule(
  z.object({
    type: z.enum(['string', 'enum', 'boolean', 'number']).nullish(),
    name: named(128),
    description: text(1500).nullish(),
    system_prompt: text(4096).nullish(),
    examples: z.array(text(512)).max(16).nullish(),
    choices: withRule(
      z.array(named(128)).max(64),
      distinct('choices', (choice) => choice),
    ).nullish(),
  }),
  (item, loc) => (item.type === 'enum' && (item.choices ?? []).length === 0 ? [issues.value(loc, 'type enum needs choices')] : []),
);

const rest = {
  knowledge_base_id: named(253).nullish(),
  enable_user_interruptions: z.boolean().nullish(),
  minimum_speech_duration_for_interruptions: z.number().min(0).max(15).nullish(),
  minimum_words_before_interruption: z.int().min(0).max(5).nullish(),
  wait_time_before_detecting_end_of_speech: z.number().min(0).max(15).nullish(),
  ambient_sound: z
    .enum(['office', 'cafe', 'restaurant', 'park', 'street', 'home', 'library', 'airport', 'train_station', 'beach', 'none'])
    .nullish(),
  ambient_sound_volume: z.number().min(0).max(2).nullish(),
  webhook_url: address().nullish(),
  end_call_after_silence_seconds: z.number().min(10).max(600).nullish().describe('Silence that ends the call; 30 by default.'),
  enable_silence_reminder: z
    .boolean()
    .nullish()
    .describe('Whether the agent asks once, after half of that silence, if the user is still there; `true` by default.'),
  silence_reminder_message: text(500)
    .nullish()
    .describe(
      'What it asks then; `null` or empty for "Are you still there?" in the language of the agent. May hold `{{name}}` placeholders.',
    ),
  max_call_duration_seconds: z.number().min(30).max(7200).nullish(),
  welcome_message: text(2000).nullish(),
  voicemail_detection_timeout_seconds: z.number().min(0).max(300).nullish(),
  dynamic_data_config: z.array(dynamicDataItem).max(10).nullish(),
  post_call_analysis: withRule(
    z.array(analysisItem).max(32),
    distinct('names', (item) => item.name),
  ).nullish(),
};

const agentName = named(200);
const language = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)
  .nullish();

export const agentCreate = z.object({
  agent_name: agentName,
  language_code: language,
  llm: z.object(llm),
  stt: z.object(stt),
  tts: z.object(tts),
  ...rest,
});

/** Absent fields keep their value, also within `llm`, `stt` and `tts`; `null` brings back the default. */
export const agentUpdate = z.object({
  agent_name: agentName.optional(),
  language_code: language,
  llm: z.object({ ...llm, model_name: llm.model_name.optional() }).optional(),
  stt: z.object({ ...stt, provider: stt.provider.optional() }).optional(),
  tts: z.object({ ...tts, provider: tts.provider.optional() }).optional(),
  ...rest,
});

export type AgentUpdate = z.output<typeof agentUpdate>;
export type DynamicDataItem = z.output<typeof dynamicDataItem>;
export type AnalysisItem = z.output<typeof analysisItem>;
