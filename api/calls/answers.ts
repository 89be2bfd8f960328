import { z } from 'zod';

import { callUsage, cost } from '../../events/call-usage.ts';
import { finishReasons } from '../../store/index.ts';
import { callAnalysis } from './analysis.ts';
import { callStatus } from './schema.ts';

const time = z.iso.datetime();
const milliseconds = z.number().min(0).nullable();

const source = z
  .object({
    knowledge_base: z.string().describe('Id of the knowledge base.'),
    document_id: z.string().describe('Id of the document.'),
    chunk_id: z.string().describe('Id of the chunk.'),
    filename: z.string().describe('Name of the document.'),
    score: z.number().describe('How well it fitted, 0 to 1.'),
  })
  .meta({ id: 'CallMessageSource' });

/** A call that is handed over has several agents. */
const agentName = (did: string) => z.string().optional().describe(`The \`ai_agent_id\` of the agent that ${did}.`);

export const message = z
  .object({
    role: z.enum(['agent', 'user']).describe('Who spoke.'),
    agent_name: agentName('said it; absent for what the user said'),
    content: z.string().describe('What was said.'),
    timestamp: time.describe('When it was begun to be said.'),
    interrupted: z.boolean().describe('The user cut in: `content` is what was heard of it.'),
    sources: z.array(source).optional().describe('The passages of the knowledge base that it rests on; absent where there are none.'),
  })
  .meta({ id: 'CallMessage' });

export const toolCall = z
  .object({
    name: z.string().describe('The name by which the model called the tool.'),
    agent_name: agentName('called it'),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('As the model gave them; absent where they are larger than 64 KiB, or the tool is sensitive.'),
    result: z.string().describe('What the model got: text, or JSON.'),
    is_error: z.boolean().describe('The tool failed, or its arguments did not fit.'),
    timestamp: time.describe('When it began.'),
    duration_ms: z.int().min(0).describe('How long it took, in milliseconds.'),
  })
  .meta({ id: 'ToolCall' });

export const turn = z
  .object({
    timestamp: time.nullable().describe('The `timestamp` of the answer in `messages`; null where nothing of it was heard.'),
    agent_name: agentName('answered'),
    eou: milliseconds.describe('From the end of speech to the decision that the user has finished.'),
    stt: milliseconds.describe('Speech to text.'),
    llm_ttft: milliseconds.describe('From the request to the first token of the model.'),
    tts_ttfb: milliseconds.describe('From the request to the first audio of the voice.'),
    v2v: milliseconds.describe('From the end of the user’s speech to the beginning of the agent’s.'),
  })
  .meta({ id: 'CallTurn' });

export const finishReason = z.enum(finishReasons).meta({ id: 'CallFinishReason' });

const callFields = z.object({
  _id: z.string().describe('Id of the call.'),
  call_type: z.enum(['web_call', 'phone_call']).meta({ id: 'CallType' }).describe('How the user talks.'),
  call_status: callStatus.describe('`registered` until the first media, then `ongoing`; `ended` and `error` are final.'),
  call_finish_reason: finishReason.optional().describe('Absent until it is over.'),
  ai_agent_id: z.string().describe('The agent that was called, or calls.'),
  ai_agent_name: z.string().describe('Its `agent_name` when the call was made.'),
  override_ai_agent_id: z.string().optional().describe('The agent that talks in place of it.'),
  agent_revision: z.string().describe('The revision of the agent that talks: whatever is changed during the call, it keeps that.'),
  metadata: z.record(z.string(), z.unknown()).describe('What was given to find the call again.'),
  native_llm_dynamic_data: z.record(z.string(), z.unknown()).describe('Values for the `{{name}}` placeholders, as they were given.'),
  redactions: z
    .record(z.string(), z.int().min(1))
    .optional()
    .describe(
      "Values that were taken out of what is stored of it, by kind or by the name of the agent's pattern; absent where there were none.",
    ),
  created_at: time.describe('When the call was made.'),
  call_start_time: time.optional().describe('The first media; absent before.'),
  call_end_time: time.optional().describe('When it was over; absent before.'),
  call_duration_seconds: z.number().min(0).optional().describe('From the start to the end of the call; absent until it is over.'),
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
  direction: z
    .enum(['inbound', 'outbound'])
    .meta({ id: 'CallDirection' })
    .optional()
    .describe('Which way a phone call goes; absent for web calls.'),
  from_number: z.string().optional().describe('The number that calls; only of a phone call.'),
  to_number: z.string().optional().describe('The number that is called; only of a phone call.'),
  sip_call_id: z.string().optional().describe('The id of a phone call at its SIP gateway.'),
  cost: cost.optional().describe('What it has cost so far; absent where a model has no price, and where nothing was used.'),
});

export const callSummary = callFields.meta({ id: 'CallSummary' });

export const callAnswer = callFields
  .extend({
    messages: z.array(message).describe('What was said, in the order of time.'),
    turns: z.array(turn).describe('What each answer of the agent took, in milliseconds; null where it was not measured.'),
    tool_calls: z.array(toolCall).describe('What the model had done by tools, in the order of time.'),
    usage: callUsage.describe('What it has used of providers so far, and what that costs. It grows with each turn, and by the analysis.'),
    post_call_analysis: callAnalysis
      .optional()
      .describe('What the agent wanted to know of it; absent until it is over, and where the agent asks for nothing.'),
  })
  .meta({ id: 'Call' });

export type CallSummary = z.output<typeof callSummary>;
export type CallAnswer = z.output<typeof callAnswer>;

export const callList = z
  .object({
    calls: z.array(callSummary).describe('The calls on this page.'),
    next_page_token: z.string().nullable().describe('For `page_token` of the next page; null on the last one.'),
    total_count: z.int().min(0).describe('How many calls fit the filter, on all pages together.'),
  })
  .meta({ id: 'CallList' });

export const signedUrlAnswer = z
  .object({
    file_name: z.string().describe('Name under which to save the file.'),
    signed_url: z.string().describe('Opens the recording without a key, also in parts (`Range`).'),
    expiration_minutes: z.int().describe('How long the address is good, in minutes.'),
    expires_at: time.describe('Until when the address is good.'),
  })
  .meta({ id: 'SignedRecordingUrl' });
