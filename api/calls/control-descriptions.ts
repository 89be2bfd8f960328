/** The routes by which people steer a call while it goes on. */
import { routesOf } from '../http/route.ts';
import { callEvent, eventsQuery } from './event-answers.ts';
import {
  callCommand,
  callCommands,
  callEntrance,
  instructionsRequest,
  muteRequest,
  sayRequest,
  transferRequest,
  type CallCommandAnswer,
  type CallEntranceAnswer,
} from './control-answers.ts';

const defineRoute = routesOf('Calls');
const params = { call_id: 'The `_id`.' };
const errors = ['conflict', 'unavailable'] as const;

const said: CallCommandAnswer = {
  command_id: 'cmd_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f7',
  kind: 'say',
  body: { text: 'A colleague joins us in a moment.', interrupt: false },
  status: 'done',
  created_by_user_id: 'ada',
  created_by_key: 'key_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f8',
  created_at: '2026-11-21T04:00:20.000Z',
  finished_at: '2026-11-21T04:00:20.060Z',
};

const entranceOf = (who: 'listener' | 'supervisor'): CallEntranceAnswer => ({
  command_id: said.command_id,
  identity: `${who}-${said.command_id}`,
  access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJ2aWRlbyI6e319.c2lnbmF0dXJl',
  media_url: 'wss://media.example.com',
  expires_at: '2026-11-21T04:01:20.000Z',
});

const answersOf = (what: string, example: Pick<CallCommandAnswer, 'kind' | 'body'>) =>
  ({
    200: { description: what, schema: callCommand, example: { ...said, ...example } },
    202: {
      description: 'The agent carries it out: read the commands of the call for what comes of it.',
      schema: callCommand,
      example: { ...said, ...example, status: 'running', finished_at: undefined },
    },
  }) as const;

const REFUSED =
  'A call that is not in conversation is refused (409), and so is what the agent can’t do now: the message has the reason, and nothing is done later.';

export const sayInCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/say',
  operationId: 'sayInCall',
  summary: 'Have the agent of a live call say something',
  description: `The answer comes when the agent has taken the words, not when they were heard: the transcript has what was heard of them. ${REFUSED}`,
  permission: 'calls:control',
  params,
  body: sayRequest.meta({ id: 'SayRequest' }),
  bodyExamples: { 'at once': { text: 'A colleague joins us in a moment.', interrupt: true } },
  answers: answersOf('The command: the agent says it.', { kind: 'say', body: said.body }),
  errors,
});

export const instructInCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/instructions',
  operationId: 'instructInCall',
  summary: 'Tell the model of a live call something',
  description: `To the model only, until the call is over. It doesn't make the agent speak. ${REFUSED}`,
  permission: 'calls:control',
  params,
  body: instructionsRequest.meta({ id: 'InstructionsRequest' }),
  bodyExamples: { 'an offer': { text: 'You may offer a discount of 10 percent.' } },
  answers: answersOf('The command: the next request has it.', {
    kind: 'instructions',
    body: { text: 'You may offer a discount of 10 percent.' },
  }),
  errors,
});

export const transferCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/transfer',
  operationId: 'transferCall',
  summary: 'Transfer a live phone call',
  description: `As the tool \`transfer_call\` does, once the agent has said what it is saying. A transfer rings for up to 45 s: the answer is 202 meanwhile. After one that fails the call goes on. Web calls are refused. ${REFUSED}`,
  permission: 'calls:control',
  params,
  body: transferRequest.meta({ id: 'TransferRequest' }),
  bodyExamples: { 'a colleague, who is told what it is about': { to: '+15550100', mode: 'warm' } },
  answers: answersOf('The command: the call is transferred.', { kind: 'transfer', body: { to: '+15550100', mode: 'warm' } }),
  errors,
});

export const muteInCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/mute',
  operationId: 'muteInCall',
  summary: 'Mute the agent of a live call, or let it speak again',
  description: `What the user says meanwhile is transcribed, and the agent knows it; it is not answered afterwards. No silence ends the call meanwhile. ${REFUSED}`,
  permission: 'calls:control',
  params,
  body: muteRequest.meta({ id: 'MuteRequest' }),
  bodyExamples: { mute: { muted: true } },
  answers: answersOf('The command: the agent is muted, or speaks again.', { kind: 'mute', body: { muted: true } }),
  errors,
});

export const listenToCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/listen',
  operationId: 'listenToCall',
  summary: 'Hear a live call',
  description:
    "Gives a token for the call's room, for a minute and one participant, who hears both sides as they hear each other. Nobody in the call learns of them; the transcript, the recording and the events of the call stay as they are. Who asked is written down in the commands of the call.",
  permission: 'calls:listen',
  params,
  answers: { 200: { description: 'How to join.', schema: callEntrance, example: entranceOf('listener') } },
  errors,
});

export const takeOverCall = defineRoute({
  method: 'POST',
  path: '/v1/calls/:call_id/take-over',
  operationId: 'takeOverCall',
  summary: 'Speak with the user of a live call in place of its agent',
  description:
    "Gives a token for the call's room, for a minute and one participant. From when they join until they leave the agent is muted. They are recorded and transcribed on the agent's side, and the agent, once it speaks again, knows what was said.",
  permission: 'calls:control',
  params,
  answers: { 200: { description: 'How to join.', schema: callEntrance, example: entranceOf('supervisor') } },
  errors,
});

export const followCall = defineRoute({
  method: 'GET',
  path: '/v1/calls/:call_id/events',
  operationId: 'followCall',
  summary: 'Follow a call as it goes on',
  description:
    'Server-Sent Events, from the first word of the call on, until it is over: `message`, `tool_call`, `turn` and `end` are what is stored, and have an `id`; `words`, `tool_started` and `state` are of the moment. Asked again with the header `Last-Event-ID`, or with `last_event_id`, it goes on behind that event; behind the `end` it answers 204, by which clients know that nothing more comes. A comment every 15 s shows that the connection lives. A client that reads too slowly, or whose key is revoked, gets a last event `closed` with the reason.',
  permission: 'calls:read',
  permissionForOwn: 'calls:create',
  params,
  query: eventsQuery,
  streamsEvents: true,
  answers: {
    200: {
      description: 'The events. Each is sent as its name (`event:`), its `id:` where it has one, and its `data:` in JSON.',
      contentType: 'text/event-stream',
      schema: callEvent,
      example: {
        event: 'message',
        id: '4711',
        data: { role: 'user', content: 'What does it cost?', timestamp: '2026-11-21T04:00:10.100Z', interrupted: false },
      },
    },
    204: { description: 'The call is over, and the client has all of it.' },
  },
  errors: ['unavailable'],
});

export const listCallCommands = defineRoute({
  method: 'GET',
  path: '/v1/calls/:call_id/commands',
  operationId: 'listCallCommands',
  summary: 'List what was asked of a call while it went on',
  description: 'Who asked for what, when, and what came of it. They are kept as long as the call.',
  permission: 'calls:read',
  params,
  answers: { 200: { description: 'The commands.', schema: callCommands, example: { data: [said] } } },
});
