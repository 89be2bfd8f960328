/** What is answered of calls and their recordings. */
import { z } from 'zod';

import { callStatuses, finishReasons, type FinishReason } from '../../store/index.ts';
import { callAnalysis } from './analysis.ts';

const time = z.iso.datetime();
const milliseconds = z.number().min(0).nullable();

const source = z.object({
  knowledge_base: z.string(),
  document_id: z.string(),
  chunk_id: z.string(),
  filename: z.string(),
  score: z.number().describe('0 to 1.'),
});

const message = z.object({
  role: z.enum(['agent', 'user']),
  content: z.string(),
  timestamp: time.describe('When it was begun to be said.'),
  interrupted: z.boolean().describe('The user cut in: `content` is what was heard of it.'),
  sources: z.array(source).optional().describe('The passages of the knowledge base that it rests on; absent where there are none.'),
});

const toolCall = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional().describe('As the model gave them; absent where they are larger than 64 KiB.'),
  result: z.string().describe('What the model got: text, or JSON.'),
  is_error: z.boolean().describe('The tool failed, or its arguments did not fit.'),
  timestamp: time.describe('When it began.'),
  duration_ms: z.int().min(0),
});

const turn = z.object({
  timestamp: time.nullable().describe('Of the answer in `messages`; null where nothing of it was heard.'),
  eou: milliseconds.describe('From the end of speech to the decision that the user has finished.'),
  stt: milliseconds.describe('Speech to text.'),
  llm_ttft: milliseconds.describe('To the first token of the model.'),
  tts_ttfb: milliseconds.describe('To the first audio of the voice.'),
  v2v: milliseconds.describe('From the end of the user’s speech to the beginning of the agent’s.'),
});

const callFields = z.object({
  _id: z.string(),
  call_type: z.enum(['web_call', 'phone_call']),
  call_status: z.enum(callStatuses).describe('`registered` until the first media, then `ongoing`; `ended` and `error` are final.'),
  call_finish_reason: z
    .enum(finishReasons as [FinishReason, ...FinishReason[]])
    .optional()
    .describe('Absent until it is over.'),
  ai_agent_id: z.string(),
  ai_agent_name: z.string(),
  override_ai_agent_id: z.string().optional().describe('The agent that talks in its stead.'),
  metadata: z.record(z.string(), z.unknown()),
  native_llm_dynamic_data: z.record(z.string(), z.unknown()),
  created_at: time,
  call_start_time: time.optional().describe('The first media; absent before.'),
  call_end_time: time.optional(),
  call_duration_seconds: z.number().min(0).optional().describe('From start to end; absent until it is over.'),
  recorded_call_audio_url: z
    .string()
    .optional()
    .describe(
      'An address that opens the recording for 10 minutes. Absent while there is none, for calls that are not recorded, and for keys that lack `recordings:read` and have not made the call.',
    ),
  access_token: z
    .string()
    .optional()
    .describe(
      'Opens the room of a web call, to one user: in the answer that makes the call, and for keys that hold `calls:write` while the call is `registered`; absent otherwise.',
    ),
  media_url: z.string().optional().describe('The media server that the token is for.'),
  direction: z.enum(['inbound', 'outbound']).optional().describe('Of a phone call.'),
  from_number: z.string().optional().describe('Of a phone call.'),
  to_number: z.string().optional().describe('Of a phone call.'),
  sip_call_id: z.string().optional().describe('Of a phone call, as its gateway knows it.'),
});

export const callSummary = callFields.meta({ id: 'CallSummary' });

export const callAnswer = callFields
  .extend({
    messages: z.array(message).describe('What was said, in the order of time.'),
    turns: z.array(turn).describe('What each answer of the agent took, in milliseconds; null where it was not measured.'),
    tool_calls: z.array(toolCall).describe('What the model had done by tools, in the order of time.'),
    post_call_analysis: callAnalysis
      .optional()
      .describe('What the agent wanted to know of it; absent until it is over, and where the agent asks for nothing.'),
  })
  .meta({ id: 'Call' });

export type CallSummary = z.output<typeof callSummary>;
export type CallAnswer = z.output<typeof callAnswer>;

export const callList = z
  .object({
    calls: z.array(callSummary),
    next_page_token: z.string().nullable().describe('For `page_token` of the next page; null on the last one.'),
    total_count: z.int().min(0).describe('Of all calls that fit, on whatever page.'),
  })
  .meta({ id: 'CallList' });

export const signedUrlAnswer = z
  .object({
    file_name: z.string(),
    signed_url: z.string().describe('Opens the recording without a key, also in parts (`Range`).'),
    expiration_minutes: z.int(),
    expires_at: time,
  })
  .meta({ id: 'SignedRecordingUrl' });
