/** What is sent to those who follow a call: each event as its name, its id and its data. */
import { z } from 'zod';

import { finishReason, message, toolCall, turn } from './answers.ts';
import { callStatus } from './schema.ts';

const closedReasons = ['too_slow', 'server_stopping', 'key_refused', 'call_deleted', 'failed'] as const;

export type ClosedReason = (typeof closedReasons)[number];

const id = z.string().describe('Sent as `Last-Event-ID` it goes on behind this event.');
const role = z.enum(['agent', 'user']);

/** Events of what is stored: they come again where they are asked for. */
const storedEvents = [
  z
    .object({ event: z.literal('message').describe('Its name.'), id, data: message.describe('What was said.') })
    .meta({ id: 'CallMessageEvent', description: 'Something was said, as far as it was heard.' }),
  z
    .object({ event: z.literal('tool_call').describe('Its name.'), id, data: toolCall.describe('What was done.') })
    .meta({ id: 'CallToolCallEvent', description: 'A tool is done.' }),
  z
    .object({ event: z.literal('turn').describe('Its name.'), id, data: turn.describe('What it took.') })
    .meta({ id: 'CallTurnEvent', description: 'What an answer took.' }),
  z
    .object({
      event: z.literal('end').describe('Its name.'),
      id,
      data: z
        .object({
          call_status: callStatus.describe('`ended` or `error`.'),
          call_finish_reason: finishReason.describe('Why it is over.'),
          call_duration_seconds: z.number().min(0).describe('From its start to its end.'),
        })
        .describe('How it ended.'),
    })
    .meta({ id: 'CallEndEvent', description: 'The call is over, and nothing follows.' }),
] as const;

/** Events of the moment: nothing of them is stored, and they have no id. */
const liveEvents = [
  z
    .object({
      event: z.literal('call').describe('Its name.'),
      data: z.object({ call_status: callStatus.describe('As it is now.') }).describe('How far it is.'),
    })
    .meta({ id: 'CallStatusEvent', description: 'The state of the call: at the beginning, and when it has begun.' }),
  z
    .object({
      event: z.literal('words').describe('Its name.'),
      data: z
        .object({
          line: z.string().describe('Which line it is: a later event of the same line replaces it.'),
          role: role.describe('Who speaks.'),
          text: z.string().describe('The words so far; of a long line its last 1,200 characters.'),
          final: z.boolean().describe('Whether they change no more; the `message` follows.'),
        })
        .describe('The line.'),
    })
    .meta({ id: 'CallWordsEvent', description: 'Words as they are recognised or heard.' }),
  z
    .object({
      event: z.literal('tool_started').describe('Its name.'),
      data: z
        .object({
          name: z.string().describe('The name by which the model called the tool.'),
          timestamp: z.iso.datetime().describe('When it began.'),
        })
        .describe('Which tool.'),
    })
    .meta({ id: 'CallToolStartedEvent', description: 'A tool has begun; its `tool_call` follows.' }),
  z
    .object({
      event: z.literal('state').describe('Its name.'),
      data: z
        .object({
          agent: z.enum(['listening', 'thinking', 'speaking']).describe('What the agent does.'),
          muted: z.boolean().describe('Whether it neither speaks nor answers.'),
          held: z.boolean().describe('Whether the caller is on hold.'),
          taken_over: z.boolean().describe('Whether a person speaks in its place.'),
        })
        .describe('The whole state.'),
    })
    .meta({ id: 'CallStateEvent', description: 'The state of the conversation: when it changes, and every now and then.' }),
  z
    .object({
      event: z.literal('closed').describe('Its name.'),
      data: z
        .object({
          reason: z.enum(closedReasons).meta({ id: 'CallEventsClosedReason' }).describe('Why nothing follows.'),
          message: z.string().describe('For people: what happened, and what to do.'),
        })
        .describe('Why.'),
    })
    .meta({ id: 'CallEventsClosed', description: 'The stream ends before the call does.' }),
] as const;

/** One event; over the line it is text. */
export const callEvent = z.discriminatedUnion('event', [...storedEvents, ...liveEvents]).meta({ id: 'CallEvent' });

const lastEventId = z.string().regex(/^\d{1,15}(-end)?$/);

export const eventsQuery = z.object({
  last_event_id: lastEventId.optional().describe('As the header `Last-Event-ID`, which counts where both are there.'),
});

export const lastEventIdHeader = lastEventId;

export type CallEvent = z.output<typeof callEvent> & { readonly id?: string };
