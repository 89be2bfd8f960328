import { z } from 'zod';

import { release } from './agent-release.ts';
import { MAX_FALLBACKS, speech, speechToText, textToSpeech } from './agent-speech.ts';
import { apiKeySecretRef, chatModelFields, llmBaseURL, llmProvider, modelName, needsBaseURL } from './chat-model.ts';
import { handoffs } from './handoffs.ts';
import { lookupMethods } from './http-method.ts';
import { ageColumn, defineKind, displayNameColumn, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import { realtime } from './realtime.ts';
import { redaction } from './redaction.ts';
import {
  atomic,
  cel,
  configMapKeyRef,
  decimal,
  duration,
  emptyByDefault,
  freeObject,
  headerList,
  list,
  localRef,
  mapOf,
  name,
  setOf,
  text,
  unionOf,
  url,
} from './schema.ts';
import { commonStatus, ORPHAN, suspend, timestamp } from './status.ts';

const contextTokens = () =>
  z
    .int()
    .min(1024)
    .max(10_000_000)
    .optional()
    .describe("The model's context window, in tokens; by the name of the model where absent. Longer conversations are summarised.");

const temperature = () => decimal(0, 2).optional();
const maxTokens = () => z.int().min(1).max(32768).optional();

/** Longest prompt that stands in the resource itself, in characters. */
export const MAX_INLINE_PROMPT = 4096;

const fallbackModel = cel(
  chatModelFields().extend({
    temperature: temperature().describe('That of the llm where absent.'),
    maxTokens: maxTokens().describe('Longest answer, in tokens; that of the llm where absent.'),
    contextTokens: contextTokens(),
  }),
  needsBaseURL,
);

const llm = cel(
  z.object({
    provider: llmProvider().default('openai'),
    model: modelName(),
    displayName: text(200).optional().describe('A label for people.'),
    description: text(1500).optional().describe('A note for people.'),
    baseURL: llmBaseURL(),
    apiKeySecretRef: apiKeySecretRef(),
    fallbacks: list(fallbackModel, MAX_FALLBACKS)
      .optional()
      .describe('Other models, in this order: the next one answers where one fails, or is late by a second.'),
    temperature: temperature().describe('0 is the most predictable. Not sent where absent: some models take none.'),
    maxTokens: maxTokens().describe('Longest answer, in tokens; the limit of the model where absent.'),
    contextTokens: contextTokens(),
    systemPrompt: text(MAX_INLINE_PROMPT)
      .optional()
      .describe('System prompt of the model; longer prompts go into a ConfigMap, see systemPromptFrom. May hold {{name}} placeholders.'),
    systemPromptFrom: z.object({ configMapKeyRef: configMapKeyRef() }).optional().describe('Where a longer prompt is read from.'),
  }),
  { rule: '!(has(self.systemPrompt) && has(self.systemPromptFrom))', message: 'set at most one of systemPrompt and systemPromptFrom' },
  needsBaseURL,
);

const dynamicData = z.object({
  name: name(128).describe('Identifies a lookup of the agent.'),
  url: text(2048)
    .regex(/^https?:\/\/.+/)
    .describe('May hold {{name}} placeholders.'),
  method: z.enum(lookupMethods).optional().describe('GET where absent. GET, HEAD and OPTIONS send no body.'),
  timeout: duration('1ms', '30s').optional().describe('5s where absent.'),
  headers: headerList().optional().describe('Headers that are sent with the request.'),
  query: freeObject(32).optional().describe('Added to the address: texts, numbers and booleans.'),
  body: freeObject(64).optional().describe('JSON body, at most 32 KiB.'),
  cache: duration('1s', '24h')
    .optional()
    .describe('How long the answer is used again for the same request within the organisation; it is not kept where absent.'),
  response: mapOf(
    z.object({
      name: name(128).describe('Name under which the value enters the dynamic data of the call.'),
      path: name(512).describe('JSON path into the answer.'),
      context: text(1500).optional().describe('What the value means, for the model.'),
    }),
    ['name'],
    32,
  )
    .optional()
    .describe('What is taken from the answer.'),
});

const postCallAnalysis = cel(
  z.object({
    name: name(128).describe('Identifies a result of a call.'),
    type: z.enum(['String', 'Enum', 'Boolean', 'Number']).describe('Type of the result.'),
    description: text(1500).optional().describe('What is asked of the call.'),
    systemPrompt: text(4096).optional().describe('Instructions for the model that answers it.'),
    examples: list(text(512), 16).optional().describe('Results as they might be, written as texts whatever the type.'),
    choices: setOf(name(128), 64).min(1).optional().describe('The allowed results of type Enum.'),
  }),
  ...unionOf({ Enum: 'choices' }),
);

export const ambientSounds = [
  'Office',
  'Cafe',
  'Restaurant',
  'Park',
  'Street',
  'Home',
  'Library',
  'Airport',
  'TrainStation',
  'Beach',
] as const;

const budget = z.object({
  daily: text(16)
    .regex(/^[0-9]{1,9}(\.[0-9]{1,6})?$/)
    .describe('What calls may cost in a day of timeZone, such as "25.00".'),
  currency: text(3)
    .regex(/^[A-Z]{3}$/)
    .describe('ISO 4217; that of PARLEY_PRICES. What has no price there is not counted.'),
});

const silenceReminder = z.object({
  after: duration('1s', '600s').describe('Time since either side was last heard; reminders before it do not count.'),
  message: text(500)
    .optional()
    .describe('What the agent says; the message of silenceReminder where absent or empty. May hold {{name}} placeholders.'),
});

const spec = z.object({
  displayName: name(200).optional().describe('metadata.name where absent.'),
  suspend,
  language: text(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)
    .default('en-US')
    .describe('BCP 47 tag of the language that is spoken.'),
  timeZone: text(64).optional().describe('IANA name of the time zone of the date and time that the model gets; UTC where absent.'),
  welcomeMessage: text(2000).optional().describe('Where absent the agent waits for the user to speak. May hold {{name}} placeholders.'),
  llm: llm.describe('The language model.'),
  realtime: realtime
    .optional()
    .describe(
      'A model that hears the user itself and answers in one session; absent for none. llm and speechToText go on where its connection is lost, or there is none.',
    ),
  speechToText: speechToText.describe('How the user is understood.'),
  textToSpeech: textToSpeech.describe('How the agent speaks.'),
  speech: emptyByDefault(speech).describe('How what the agent writes is spoken.'),
  knowledgeBaseRef: localRef().optional().describe('The KnowledgeBase that the agent looks things up in.'),
  handoffs,
  interruptions: z
    .object({
      mode: z
        .enum(['Always', 'Never'])
        .default('Always')
        .describe('Always: the user may interrupt the agent at any time; Never: the agent finishes what it says.'),
      minSpeechDuration: duration('0s', '15s').default('500ms').describe('Speech shorter than this does not interrupt.'),
      minWords: z.int().min(0).max(5).default(0).describe('Speech of fewer words does not interrupt.'),
      acknowledgements: setOf(name(64), 50)
        .optional()
        .describe('Words and phrases that never interrupt, beside those that only show in its language that somebody listens ("uh-huh").'),
      stopWords: setOf(name(64), 50)
        .optional()
        .describe('Words and phrases that interrupt at once, whatever minSpeechDuration and minWords say.'),
    })
    .prefault({})
    .describe('When the user interrupts the agent.'),
  turnDetection: z
    .object({
      mode: z
        .enum(['Model', 'Silence'])
        .default('Model')
        .describe(
          'Model: a detector in the worker hears whether the user has finished, and the wait depends on how sure it is; Silence: the wait is fixed.',
        ),
      endOfSpeechDelay: duration('0s', '15s')
        .default('500ms')
        .describe(
          'Silence after which the user is taken to have finished, where nothing else is known. With mode Model 60 % of it when the detector is sure, up to 3s or this delay, if that is longer, when it is not; below 300ms as with mode Silence.',
        ),
    })
    .prefault({})
    .describe('When it is the turn of the agent.'),
  ambientSound: z
    .object({
      source: z.enum(ambientSounds).optional().describe('The place that is heard behind the agent; none where absent.'),
      volume: decimal(0, 2).default('1').describe('1 is as loud as the place is meant to be.'),
    })
    .prefault({})
    .describe('Background sound.'),
  call: z
    .object({
      endAfterSilence: duration('10s', '600s').default('30s').describe('Silence that ends the call.'),
      silenceReminder: z
        .object({
          mode: z.enum(['Always', 'Never']).default('Always').describe('Whether the agent asks.'),
          message: text(500)
            .optional()
            .describe('What it says; where absent or empty "Are you still there?" in its language. May hold {{name}} placeholders.'),
          reminders: list(silenceReminder, 5)
            .optional()
            .describe('When it asks during one silence. Where absent once, after half of endAfterSilence.'),
        })
        .prefault({})
        .describe('The agent asks into a silence whether the user is still there.'),
      maxDuration: duration('30s', '7200s').default('30m').describe('Longest call.'),
      voicemailDetection: z
        .object({
          mode: z.enum(['Always', 'Never']).default('Always').describe('Whether the agent finds out who answers.'),
          timeout: duration('1s', '300s').default('90s').describe('How long after the start of the call voicemail is still recognised.'),
          message: text(500)
            .optional()
            .describe(
              'Said to voicemail after its tone, before the call ends; it ends without a word where absent. May hold {{name}} placeholders.',
            ),
        })
        .prefault({})
        .describe('Outbound phone calls end where voicemail answers.'),
    })
    .prefault({})
    .describe('When a call ends.'),
  recording: z
    .object({
      mode: z
        .enum(['Always', 'Never'])
        .default('Always')
        .describe('Whether calls are recorded. An organisation that has switched recordings off has none.'),
      retention: duration('24h', '87600h')
        .optional()
        .describe('Time from the end of a call until its recording is deleted; as the organisation has it where absent.'),
    })
    .prefault({})
    .describe('The recordings of calls. Calls keep what held when they began.'),
  redaction: atomic(redaction)
    .optional()
    .describe('What is taken out of transcripts, tool calls, results and recordings before they are stored; nothing where absent.'),
  webhookURL: url().optional().describe("Events of this agent's calls are also posted there."),
  requiredDynamicData: setOf(name(128), 64)
    .optional()
    .describe('Names that a call must bring, unless dynamicData looks them up; a call without them is refused.'),
  dynamicData: mapOf(dynamicData, ['name'], 10).optional().describe('Looked up when a call begins.'),
  postCallAnalysis: mapOf(postCallAnalysis, ['name'], 32).optional().describe('What is found out from the transcript when a call is over.'),
  budget: atomic(budget)
    .optional()
    .describe(
      'Once the calls of a day have cost it, new ones are refused until midnight, and calls under way go on. No limit where absent.',
    ),
  deletionPolicy: z
    .enum(['Delete', 'Orphan'])
    .default('Delete')
    .describe(`Delete: the object goes once its revisions are out of service. ${ORPHAN}`),
  release: atomic(release).optional().describe('How new revisions come into service. Calls that have begun keep theirs.'),
});

const status = z.object({
  ...commonStatus,
  desiredRevision: text(64).optional().describe('SHA-256 of the configuration that the spec and everything it refers to ask for.'),
  servingRevision: text(64).optional().describe('The revision that new calls start with: the last one that was sound.'),
  servingSince: timestamp().optional().describe('When servingRevision began to serve.'),
  canary: z
    .object({
      revision: text(64).describe('The revision that is tried.'),
      percent: z.int().min(1).max(99).describe('How many of 100 new calls start with it.'),
      since: timestamp().describe('When it began.'),
    })
    .optional()
    .describe('The new revision that a part of the new calls start with; absent where none is tried.'),
  observedDependenciesDigest: text(64)
    .optional()
    .describe(
      'Digest of the Tools and the KnowledgeBase that this status was computed from. The REST API compares it, as observedGeneration is compared.',
    ),
  tools: z
    .object({
      total: z.int().min(0).describe('How many tools there are.'),
      names: list(text(253), 64).describe('The first 64 of them, sorted.'),
    })
    .optional()
    .describe('The Tools that the agent offers.'),
});

export const agentKind = defineKind('Agent', 'agents', {
  shortNames: ['pagent'],
  description: 'A voice agent: its language model, speech, timing, dynamic data and post-call analysis.',
  printerColumns: [
    displayNameColumn(),
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'Language', type: 'string', jsonPath: '.spec.language' },
    { name: 'LLM', type: 'string', jsonPath: '.spec.llm.model' },
    { name: 'Voice', type: 'string', jsonPath: '.spec.textToSpeech.provider' },
    { name: 'Tools', type: 'integer', jsonPath: '.status.tools.total' },
    { name: 'Canary', type: 'integer', jsonPath: '.status.canary.percent', description: 'Percent of new calls.', priority: 1 },
    ageColumn,
  ],
  spec,
  status,
  rules: [
    {
      rule: '!has(self.spec.handoffs) || self.spec.handoffs.all(x, x.agentRef.name != self.metadata.name)',
      message: 'must not name the agent itself',
      fieldPath: '.spec.handoffs',
    },
  ],
});

export type AgentSpec = z.output<typeof spec>;
export type AgentStatus = z.output<typeof status>;
export type Agent = Resource<AgentSpec, AgentStatus>;
