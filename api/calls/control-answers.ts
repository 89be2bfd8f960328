import { z } from 'zod';

import { commandKinds, commandStatuses } from '../../store/index.ts';
import { issues } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';

const time = z.iso.datetime();

/** Words for an agent or its model; spaces alone are none. */
const words = (maxLength: number) =>
  withRule(z.string().min(1).max(maxLength), (text, loc) => {
    if (text.trim() === '') return [issues.value(loc, 'write at least one word')];
    return text.includes('\u0000') || !text.isWellFormed()
      ? [issues.value(loc, 'use characters that can be stored: no NUL, no half of a pair')]
      : [];
  });

export const sayRequest = z.object({
  text: words(2_000).describe("What the agent says, by its voice and in its language. It stands in the transcript as the agent's words."),
  interrupt: z
    .boolean()
    .default(false)
    .describe('Whether it is said at once, in place of what the agent is saying or about to answer; false says it afterwards.'),
});

export const instructionsRequest = z.object({
  text: words(4_000).describe('What the model has to know or to do from its next request on. It is not said, and not in the transcript.'),
});

export const transferRequest = z.object({
  to: z
    .string()
    .max(512)
    .regex(/^(\+[1-9][0-9]{1,14}|sips?:.+)$/)
    .describe('E.164 number or `sip:` URI.'),
  mode: z.enum(['cold', 'warm']).default('cold').describe('`warm`: the agent speaks to the other side first, which has to be a number.'),
});

export const muteRequest = z.object({
  muted: z
    .boolean()
    .describe('True: the agent is silent at once and answers nothing; what is said is still transcribed. False: it answers again.'),
});

export const callCommand = z
  .object({
    command_id: z.string().describe('Id of the command.'),
    kind: z.enum(commandKinds).meta({ id: 'CallCommandKind' }).describe('What was asked for.'),
    body: z.record(z.string(), z.unknown()).describe('As it was asked for.'),
    status: z
      .enum(commandStatuses)
      .meta({ id: 'CallCommandStatus' })
      .describe(
        '`pending` until the agent takes it, then `running`; `done`, `refused` and `expired` are final. One that is `running` in a call that is over was cut off by the end.',
      ),
    reason: z.string().optional().describe('Why it was not carried out; absent otherwise.'),
    created_by_user_id: z.string().optional().describe('The user of the key; absent where it acts for no user.'),
    created_by_key: z.string().describe('Id of the key that sent it.'),
    created_at: time.describe('When it was sent.'),
    finished_at: time.optional().describe('When it was carried out, refused or called off; absent before.'),
  })
  .meta({ id: 'CallCommand' });

export type CallCommandAnswer = z.output<typeof callCommand>;

export const callCommands = z
  .object({ data: z.array(callCommand).describe('The commands, the oldest first.') })
  .meta({ id: 'CallCommandList' });

export const callEntrance = z
  .object({
    command_id: z.string().describe('Id of the command in the commands of the call.'),
    identity: z.string().describe('Who joins: its name among the participants of the room.'),
    access_token: z.string().describe('Opens the room of the call, to one participant.'),
    media_url: z.string().describe('The media server (LiveKit) that the token is for.'),
    expires_at: time.describe('Until when one may join with it. Who has joined stays.'),
  })
  .meta({ id: 'CallEntrance' });

export type CallEntranceAnswer = z.output<typeof callEntrance>;
