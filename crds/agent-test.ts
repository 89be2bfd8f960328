import { z } from 'zod';

import { chatModel } from './chat-model.ts';
import { ageColumn, defineKind, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import { atomic, cel, duration, freeObject, freeValue, list, localRef, mapOf, name, objectName, text, unionOf } from './schema.ts';
import { commonStatus, suspend, timestamp } from './status.ts';

/** Verdicts on an attempt, a test and a run, as rows, events and REST spell them; `error`: it could not be evaluated, which is never green. */
export const testVerdicts = ['passed', 'failed', 'error'] as const;

const MAX_REPEAT = 100;

/** Most turns of a simulated conversation without `maxTurns`. */
export const DEFAULT_MAX_TURNS = 12;

const functionName = () =>
  z
    .string()
    .max(64)
    .regex(/^[a-zA-Z0-9_-]{1,64}$/)
    .describe('Name of the function, as the model sees it.');

const mockAnswer = {
  returns: freeValue().optional().describe('Any JSON value, as the answer of the tool.'),
  error: name(1500).optional().describe('The tool fails with this text.'),
};
/** CEL sees no field whose value may be anything: `agentTestProblems` has the rule of `returns`. */
const mockAnswerTypes = { Error: 'error' };

const mock = atomic(
  cel(
    z.object({
      name: functionName(),
      type: z
        .enum(['Returns', 'Error', 'Sequence', 'Passthrough'])
        .describe(
          'Returns: the tool answers with returns. Error: it fails with error. Sequence: each call has an answer of its own. Passthrough: the tool itself is called.',
        ),
      when: freeObject(32)
        .optional()
        .describe('Arguments that must be equal for this entry to answer; others may be there too. Every call where absent.'),
      ...mockAnswer,
      sequence: list(
        atomic(
          cel(
            z.object({
              type: z.enum(['Returns', 'Error']).describe('Returns: the tool answers this call with returns. Error: it fails with error.'),
              ...mockAnswer,
            }),
            ...unionOf(mockAnswerTypes),
          ),
        ),
        32,
      )
        .min(1)
        .optional()
        .describe('Answers of the first call, the second and so on; the last one repeats.'),
      delay: duration('0s', '60s').optional().describe('Wait before the answer.'),
    }),
    ...unionOf({ ...mockAnswerTypes, Sequence: 'sequence' }),
  ),
);

const toolCall = z.object({
  name: functionName(),
  unknown: z
    .boolean()
    .optional()
    .describe('true: the agent has no such function: the model makes it up, nothing is run, and the model is told so.'),
  times: z.int().min(0).max(100).optional().describe('Number of calls of it, exactly; at least one where absent.'),
  arguments: freeObject(32)
    .optional()
    .describe(
      'By name of the argument: the value, or one of {contains: text}, {matches: regular expression} and {equals: any JSON value}.',
    ),
});

const answer = cel(
  z.object({
    contains: list(name(500), 16).min(1).optional().describe('Texts that are said; case and punctuation do not matter.'),
    notContains: list(name(500), 16).min(1).optional().describe('Texts that are not said; case and punctuation do not matter.'),
    matches: name(1000).optional().describe('Regular expression that the answer matches somewhere.'),
    maxWords: z.int().min(0).max(10_000).optional().describe('How many words the answer may have.'),
    language: name(35).optional().describe('BCP 47 tag of the language of the answer.'),
  }),
  {
    rule: 'has(self.contains) || has(self.notContains) || has(self.matches) || has(self.maxWords) || has(self.language)',
    message: 'set at least one of contains, notContains, matches, maxWords and language',
  },
);

const judgement = () => name(1500).optional().describe('What a model judges to be so, in words.');
/** Finish reasons grow with releases: the operator and `parley test` know those of their own. */
const endReason = () =>
  z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9_]*$/)
    .optional();

const expectation = cel(
  z.object({
    type: z
      .enum(['Answer', 'Tool', 'Handoff', 'Judge', 'Within', 'Ends'])
      .describe('What is checked: the field of this name says what is expected. Answer, for example, comes with answer.'),
    answer: atomic(answer).optional().describe('What the agent says in this turn.'),
    tool: toolCall.optional().describe('A tool that the agent calls in this turn.'),
    handoff: objectName().optional().describe('The Agent that takes over in this turn.'),
    judge: judgement(),
    within: duration('1ms', '10m').optional().describe('Longest wait until the first words of the answer.'),
    ends: endReason().describe('The call ends in this turn, for this reason, such as agent_ended_call.'),
  }),
  ...unionOf({ Answer: 'answer', Tool: 'tool', Handoff: 'handoff', Judge: 'judge', Within: 'within', Ends: 'ends' }),
);

const turn = cel(
  z.object({
    type: z.enum(['User', 'Keys']).describe('User: the user says something. Keys: the user presses keys.'),
    user: name(4096).optional().describe('What the user says.'),
    keys: z
      .string()
      .max(64)
      .regex(/^[0-9*#]{1,64}$/)
      .optional()
      .describe('Keys that the user presses, e.g. 42#.'),
    expect: list(expectation, 16).optional().describe('What is checked of the agent in this turn.'),
  }),
  ...unionOf({ User: 'user', Keys: 'keys' }),
);

const endCheck = cel(
  z.object({
    type: z
      .enum(['NeverCalled', 'Called', 'Handoff', 'Analysis', 'Judge', 'Ends'])
      .describe('What is checked: the field of this name says what is expected. Called, for example, comes with called.'),
    neverCalled: functionName().optional().describe('A function that is never called.'),
    called: toolCall.optional().describe('A tool that is called in the conversation.'),
    handoff: objectName().optional().describe('An Agent that takes over in the conversation.'),
    analysis: atomic(
      z.object({
        name: name(128).describe('Name of a result of postCallAnalysis of the agent.'),
        equals: freeValue().optional().describe('What the result must be.'),
      }),
    )
      .optional()
      .describe('A result of the analysis after the call.'),
    judge: judgement(),
    ends: endReason().describe('The call has ended, for this reason, such as agent_ended_call.'),
  }),
  ...unionOf({ NeverCalled: 'neverCalled', Called: 'called', Handoff: 'handoff', Analysis: 'analysis', Judge: 'judge', Ends: 'ends' }),
);

const spec = cel(
  z.object({
    suspend,
    agentRefs: mapOf(localRef(), ['name'], 64).min(1).describe('The agents that are tested.'),
    required: z.boolean().default(false).describe('true: a revision of these agents that does not pass is never served.'),
    mode: z
      .enum(['Text', 'Audio'])
      .default('Text')
      .describe('Text: the conversation without sound. Audio: a call through the media server with synthesised speech.'),
    dynamicData: freeObject(64).optional().describe('Dynamic data of the call: texts, numbers and booleans.'),
    tools: list(mock, 64)
      .optional()
      .describe(
        'Answers in place of tools, looked up in order by function name and arguments. A call that none of them answers fails the test.',
      ),
    type: z
      .enum(['Conversation', 'SimulatedUser'])
      .describe('Conversation: what the user says is written down. SimulatedUser: a model plays the user.'),
    conversation: list(turn, 64).min(1).optional().describe('What the user says, and what is expected of the agent.'),
    simulatedUser: z
      .object({
        persona: text(1500).optional().describe('Who the user is and how they speak.'),
        goal: name(1500).describe('What the user wants from the call.'),
        maxTurns: z.int().min(1).max(50).optional().describe(`Most turns of the user; ${DEFAULT_MAX_TURNS} where absent.`),
        llm: chatModel().optional().describe('The model that plays the user; as judge where absent.'),
      })
      .optional()
      .describe('A user that a model plays.'),
    atEnd: list(endCheck, 32).optional().describe('What is checked of the conversation as a whole.'),
    judge: chatModel()
      .optional()
      .describe("The model that decides judge checks. Where absent that of the platform's configuration, else the agent's own."),
    repeat: z.int().min(1).max(MAX_REPEAT).default(1).describe('How many attempts are made.'),
    passAtLeast: z.int().min(1).max(MAX_REPEAT).optional().describe('How many attempts must pass; all where absent.'),
    schedule: text(100)
      .regex(/^[0-9A-Za-z*,/-]+( +[0-9A-Za-z*,/-]+){4}$/)
      .optional()
      .describe('Cron expression with five fields: when the serving revision is tested again.'),
    timeZone: text(64)
      .regex(/^[A-Za-z0-9_+/-]+$/)
      .optional()
      .describe('IANA name of the time zone of schedule, such as Europe/Berlin; UTC where absent.'),
    timeout: duration('1s', '30m').default('2m').describe('Limit of one attempt.'),
  }),
  ...unionOf({ Conversation: 'conversation', SimulatedUser: 'simulatedUser' }),
  {
    rule: '!has(self.passAtLeast) || self.passAtLeast <= self.repeat',
    message: 'passAtLeast must not be more than repeat',
    fieldPath: '.passAtLeast',
  },
);

const revision = () => text(64).describe('The revision of the agent that was tested.');

const verdict = () => z.enum(['Passed', 'Failed', 'Error', 'Running']).describe('Error: the test could not be evaluated.');
const finishedAt = () => timestamp().optional().describe('When the run ended.');

const status = z.object({
  ...commonStatus,
  testedAgents: list(text(253), 64).optional().describe('Agents of agentRefs that exist, sorted.'),
  lastRun: z
    .object({
      runID: text(64).describe('The run.'),
      revision: revision(),
      agent: text(253).describe('Name of the agent.'),
      verdict: verdict(),
      finishedAt: finishedAt(),
    })
    .optional()
    .describe('The newest run.'),
  results: mapOf(
    z.object({
      agent: name(253).describe('Name of the agent.'),
      revision: revision(),
      verdict: verdict(),
      passed: z.int().min(0).optional().describe('Attempts that passed.'),
      failed: z.int().min(0).optional().describe('Attempts that did not pass.'),
      flaky: z.boolean().optional().describe('Passed, although some attempts did not.'),
      runID: text(64).describe('The run that this comes from.'),
      finishedAt: finishedAt(),
      message: text(2048).optional().describe('The first failure.'),
    }),
    ['agent'],
    64,
  )
    .optional()
    .describe('The newest result of each agent.'),
});

export const agentTestKind = defineKind('AgentTest', 'agenttests', {
  shortNames: ['ptest'],
  description: 'A conversation with agents, and what is expected of them.',
  printerColumns: [
    // A test has no display name, and a column can't show a list such as agentRefs.
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'Required', type: 'boolean', jsonPath: '.spec.required' },
    { name: 'Result', type: 'string', jsonPath: '.status.lastRun.verdict' },
    { name: 'LastRun', type: 'date', jsonPath: '.status.lastRun.finishedAt' },
    ageColumn,
  ],
  spec,
  status,
});

export type AgentTestSpec = z.output<typeof spec>;
export type AgentTestStatus = z.output<typeof status>;
export type AgentTest = Resource<AgentTestSpec, AgentTestStatus>;
