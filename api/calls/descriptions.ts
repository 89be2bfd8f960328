import { routesOf } from '../http/route.ts';
import { analysisResults } from './analysis.ts';
import { callAnswer, callList, signedUrlAnswer } from './answers.ts';
import { endedCall, outboundCall, registeredCall, resultsExample, signedUrlExample } from './examples.ts';
import { callQuery, outboundCallCreate, recordingRequest, webCallCreate } from './schema.ts';

const defineRoute = routesOf('Calls');

export const createWebCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/create-web-call',
  operationId: 'createWebCall',
  summary: 'Register a call from a browser',
  description:
    'The call keeps the configuration that the agent serves now. Join with `access_token` at `media_url` (LiveKit) within a minute (`PARLEY_CALL_JOIN_SECONDS`), for only some calls of an organisation and of a key may wait for their users (`PARLEY_UNJOINED_CALLS_PERCENT`): the token opens one room, for one user, who may be heard and hear. A call that no user joins ends as `error`. While voice servers are full, or more calls begin than are welcomed within `PARLEY_VOICE_WELCOME_SECONDS`, the answer is 503 with `Retry-After`, and there is no call.',
  permission: 'calls:create',
  body: webCallCreate.meta({ id: 'WebCallCreate' }),
  bodyExamples: {
    'an agent that needs a name': {
      ai_agent_id: 'receptionist-k3xq5w7z',
      metadata: { ticket: 4711 },
      native_llm_dynamic_data: { customer_name: 'Ada' },
    },
  },
  answers: {
    201: { description: 'The call, `registered`.', schema: callAnswer, example: registeredCall, identifies: { call_id: '_id' } },
  },
  errors: ['not_found', 'conflict', 'concurrent_call_limit_reached', 'budget_exceeded'],
});

export const dialOutboundPhoneCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/dial-outbound-phone-call',
  operationId: 'dialOutboundPhoneCall',
  summary: 'Make an outbound phone call',
  description:
    'The outbound agent of the number calls, with the configuration that it has now. The answer comes before the phone rings: read the call, or subscribe to its events, for the outcome. It is `ongoing` when the callee answers, and ends as `line_busy`, `no_answer`, `call_failed` or `carrier_error` otherwise. 503 with `Retry-After`, as for a web call, while voice servers have no room.',
  permission: 'calls:write',
  body: outboundCallCreate.meta({ id: 'OutboundCallCreate' }),
  bodyExamples: {
    'a call about an order': {
      from_number: '+15550100',
      to_number: '+15550199',
      metadata: { order: 'A-17' },
      native_llm_dynamic_data: { customer_name: 'Ada' },
    },
  },
  answers: {
    201: { description: 'The call, `registered`.', schema: callAnswer, example: outboundCall, identifies: { call_id: '_id' } },
  },
  errors: ['not_found', 'conflict', 'concurrent_call_limit_reached', 'budget_exceeded'],
});

export const listCalls = defineRoute({
  method: 'GET',
  path: '/v1/calls',
  operationId: 'listCalls',
  mcp: {},
  summary: 'List calls',
  description: 'Without what was said: a single call has that.',
  permission: 'calls:read',
  query: callQuery,
  answers: {
    200: {
      description: 'A page of calls.',
      schema: callList,
      example: { calls: [withoutTranscript(endedCall)], next_page_token: null, total_count: 1 },
    },
  },
});

export const getCall = defineRoute({
  method: 'GET',
  path: '/v1/calls/:call_id',
  operationId: 'getCall',
  mcp: { longLists: ['messages', 'turns', 'tool_calls'], resource: 'calls' },
  summary: 'Get a call, whatever its type',
  permission: 'calls:read',
  permissionForOwn: 'calls:create',
  params: { call_id: 'The `_id`.' },
  answers: { 200: { description: 'The call.', schema: callAnswer, example: endedCall } },
});

export const endCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/end',
  operationId: 'endCall',
  summary: 'End a call',
  description:
    'Whatever its state and type: a call that has begun ends as `agent_ended_call` with its transcript and recording, and so does one that has not, which frees its place. A call that is over is answered as it is.',
  permission: 'calls:write',
  params: { call_id: 'The `_id`.' },
  answers: { 200: { description: 'The call, which is over.', schema: callAnswer, example: endedCall } },
  errors: ['not_found', 'unavailable'],
});

export const deleteCall = defineRoute({
  method: 'DELETE',
  path: '/v1/calls/:call_id',
  operationId: 'deleteCall',
  summary: 'Delete a call',
  description:
    'For good: its transcript, turns, tool calls, recording and analysis, and what its events say of them. Events that are still to be delivered come without it. A call that is going on is refused: end it first (`POST /v1/calls/{call_id}/end`).',
  permission: 'calls:write',
  params: { call_id: 'The `_id`.' },
  answers: { 204: { description: 'The call is deleted.' } },
  errors: ['conflict', 'unavailable'],
});

export const getAnalysisResults = defineRoute({
  method: 'GET',
  path: '/v2/ai-agents/:ai_agent_id/postcall-analysis/results/:call_id',
  operationId: 'getPostCallAnalysisResults',
  summary: 'Get what was found out of a call after its end',
  description:
    "The agent's `post_call_analysis` says what. A model reads the transcript when the call is over, which takes some seconds; the event `CallAnalysis.Completed` announces the result.",
  permission: 'calls:read',
  params: {
    ai_agent_id: 'The agent of the call: the one that was asked for, or the one that talked in its stead.',
    call_id: 'The `_id` of the call.',
  },
  answers: { 200: { description: 'How far it is, and the results.', schema: analysisResults, example: resultsExample } },
});

const audio = { contentType: 'audio/ogg' } as const;
const recording = {
  200: { description: 'The recording: Ogg Opus, the user left and the agent right.', ...audio },
  206: { description: 'The part of it that `Range` asks for.', ...audio },
} as const;

export const downloadRecording = defineRoute({
  method: 'POST',
  path: '/v1/call-recording/download',
  operationId: 'downloadRecording',
  summary: 'Download the recording of a call',
  description: 'One part of it with a header `Range: bytes=…`. `expiration_url_in_minutes` is read and of no consequence here.',
  permission: 'recordings:read',
  permissionForOwn: 'calls:create',
  body: recordingRequest.meta({ id: 'RecordingRequest' }),
  bodyExamples: { 'a call': { call_id: registeredCall._id } },
  answers: recording,
  errors: ['recording_not_found', 'recording_not_ready', 'range_not_satisfiable'],
});

export const signRecordingUrl = defineRoute({
  method: 'POST',
  path: '/v1/call-recording/signed-url',
  operationId: 'signRecordingUrl',
  summary: 'Get an address that opens a recording for a while',
  permission: 'recordings:read',
  body: recordingRequest.meta({ id: 'RecordingRequest' }),
  bodyExamples: { 'an hour': { call_id: registeredCall._id, expiration_url_in_minutes: 60 } },
  answers: { 200: { description: 'The address.', schema: signedUrlAnswer, example: signedUrlExample } },
  errors: ['recording_not_found', 'recording_not_ready'],
});

export const openSignedRecording = defineRoute({
  method: 'GET',
  path: '/v1/call-recording/signed/:token',
  operationId: 'openSignedRecording',
  summary: 'Open a recording by its signed address',
  permission: 'public',
  params: { token: 'As it stands in the address.' },
  answers: recording,
  errors: ['recording_not_found', 'range_not_satisfiable', 'internal_error', 'unavailable'],
});

function withoutTranscript({
  messages: _messages,
  turns: _turns,
  tool_calls: _toolCalls,
  usage: _usage,
  post_call_analysis: _analysis,
  ...call
}: typeof endedCall) {
  return call;
}
