import { z } from 'zod';

import { ageColumn, defineKind, readyColumn, reasonColumn, type Resource } from './kind.ts';
import { cel, duration, freeObject, header, keyRef, list, localRef, mapOf, name, setOf, text, textMap, url } from './schema.ts';
import { commonStatus } from './status.ts';

const llm = cel(
  z.object({
    type: z.enum(['simple']).default('simple'),
    provider: name(64).default('openai').describe('openai, azure_openai, anthropic, google, groq or openai_compatible'),
    model: name(256),
    name: text(200).optional(),
    description: text(1500).optional(),
    baseURL: url().optional().describe('Address of the provider; required for openai_compatible.'),
    apiKeySecretRef: keyRef().optional().describe("Without one, the operator's default credential for the provider is used."),
    temperature: z.number().min(0).max(2).default(0),
    maxTokens: z.int().min(1).max(32768).optional(),
    systemPrompt: text(4096).optional().describe('Longer prompts go into a ConfigMap, see systemPromptFrom.'),
    systemPromptFrom: z.object({ configMapKeyRef: keyRef() }).optional(),
    requiredDynamicData: setOf(name(128), 64).optional().describe('Names that a call must bring; a call without them is refused.'),
  }),
  { rule: '!(has(self.systemPrompt) && has(self.systemPromptFrom))', message: 'set at most one of systemPrompt and systemPromptFrom' },
  { rule: "self.provider != 'openai_compatible' || has(self.baseURL)", message: 'baseURL is required for provider openai_compatible', fieldPath: '.baseURL', reason: 'FieldValueRequired' },
);

const speechToText = z.object({
  provider: name(64).describe('deepgram, openai, azure, google, elevenlabs, cartesia or openai_compatible'),
  model: text(256).optional(),
  baseURL: url().optional(),
  apiKeySecretRef: keyRef().optional(),
});

const textToSpeech = z.object({
  provider: name(64).describe('deepgram, openai, azure, google, elevenlabs, cartesia or openai_compatible'),
  model: text(256).optional(),
  voice: z.object({ id: text(256).optional(), name: text(256).optional() }).optional(),
  temperature: z.number().min(0).max(2).default(0.5),
  baseURL: url().optional(),
  apiKeySecretRef: keyRef().optional(),
});

const dynamicData = z.object({
  name: name(128),
  url: text(2048).regex(/^https?:\/\/.+/).describe('May hold {{name}} placeholders.'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH']).optional().describe('GET where absent.'),
  timeout: duration('100ms', '30s').optional().describe('5s where absent.'),
  headers: mapOf(header(), ['name'], 32).optional(),
  query: textMap(32, 4096).optional(),
  body: freeObject(64).optional(),
  cache: z.boolean().optional().describe('Reuse the answer to the same request within the organisation for 300 s.'),
  response: mapOf(
    z.object({ name: name(128), path: name(512).describe('JSON path into the answer.'), context: text(1500).optional() }),
    ['name'],
    32,
  ).optional(),
});

const postCallAnalysis = cel(
  z.object({
    name: name(128),
    type: z.enum(['string', 'enum', 'boolean', 'number']),
    description: text(1500).optional(),
    systemPrompt: text(4096).optional(),
    examples: list(text(512), 16).optional(),
    choices: setOf(name(128), 64).optional(),
  }),
  { rule: "self.type != 'enum' || (has(self.choices) && self.choices.size() > 0)", message: 'type enum needs choices', fieldPath: '.choices', reason: 'FieldValueRequired' },
);

const ambientSounds = ['office', 'cafe', 'restaurant', 'park', 'street', 'home', 'library', 'airport', 'train_station', 'beach', 'none'] as const;

const spec = z.object({
  displayName: name(200).optional().describe('metadata.name where absent.'),
  suspend: z.boolean().optional().describe('Stop reconciling; deletion still works.'),
  language: text(35).regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/).default('en-US').describe('BCP 47 tag.'),
  welcomeMessage: text(2000).optional().describe('Where absent the agent waits for the user to speak.'),
  llm,
  speechToText,
  textToSpeech,
  knowledgeBaseRef: localRef().optional(),
  interruptions: z
    .object({
      enabled: z.boolean().default(true),
      minSpeechDuration: duration('0s', '15s').default('500ms'),
      minWords: z.int().min(0).max(5).default(0),
    })
    .prefault({}),
  turnDetection: z.object({ endOfSpeechDelay: duration('0s', '15s').default('500ms') }).prefault({}),
  ambientSound: z
    .object({ source: z.enum(ambientSounds).default('none'), volume: z.number().min(0).max(2).default(1) })
    .prefault({}),
  call: z
    .object({
      endAfterSilence: duration('10s', '600s').default('10s'),
      maxDuration: duration('30s', '7200s').default('30m'),
      voicemailDetectionTimeout: duration('0s', '300s').default('90s').describe('0s switches it off; outbound phone calls only.'),
    })
    .prefault({}),
  webhookURL: url().optional().describe("Events of this agent's calls are also posted there."),
  dynamicData: mapOf(dynamicData, ['name'], 10).optional(),
  postCallAnalysis: mapOf(postCallAnalysis, ['name'], 32).optional(),
});

const status = z.object({
  ...commonStatus,
  desiredRevision: text(64).optional().describe('SHA-256 of the configuration that the spec and everything it refers to ask for.'),
  servingRevision: text(64).optional().describe('The revision that new calls start with: the last one that was sound.'),
  configHash: text(64).optional().describe('Like desiredRevision, but without the versions of Secrets: unchanged by a rotation.'),
  activeSince: z.iso.datetime().max(64).optional().describe('When servingRevision began to serve.'),
  tools: z.int().min(0).optional(),
  toolNames: list(text(253), 64).optional(),
});

export const agentKind = defineKind('Agent', 'agents', {
  shortNames: ['agent'],
  description: 'A voice agent: its language model, speech, timing, dynamic data and post-call analysis.',
  printerColumns: [
    readyColumn,
    { name: 'Language', type: 'string', jsonPath: '.spec.language' },
    { name: 'LLM', type: 'string', jsonPath: '.spec.llm.model' },
    { name: 'Voice', type: 'string', jsonPath: '.spec.textToSpeech.provider' },
    { name: 'Tools', type: 'integer', jsonPath: '.status.tools' },
    reasonColumn,
    ageColumn,
  ],
  spec,
  status,
});

export type AgentSpec = z.output<typeof spec>;
export type AgentStatus = z.output<typeof status>;
export type Agent = Resource<AgentSpec, AgentStatus>;
