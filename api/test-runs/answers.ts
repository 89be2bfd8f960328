import { z } from 'zod';

import { testVerdicts } from '../../crds/agent-test.ts';
import { callUsage } from '../../events/call-usage.ts';

const time = z.iso.datetime();
const verdict = z.enum(testVerdicts).describe('`error`: it could not be evaluated, which never counts as passed.');
const count = z.int().min(0);

const check = z
  .object({
    path: z.string().describe('In the AgentTest: `spec.conversation[0].expect[1].answer.contains`.'),
    kind: z.string().describe('What was checked: `answer`, `tool`, `judge`, `within`, `ends`, `mock` …'),
    verdict,
    expected: z.string().describe('What was expected.'),
    actual: z.string().describe('What the agent did.'),
    reason: z.string().optional().describe('The reason in the words of the judge, or why it could not be evaluated.'),
  })
  .meta({ id: 'TestCheck' });

const lineTool = z
  .object({
    name: z.string().describe('The name by which the model called the tool.'),
    arguments: z.record(z.string(), z.unknown()).describe('The arguments, as the model gave them.'),
    result: z.unknown().optional().describe('What the model got; absent where the call failed.'),
    error: z.string().optional().describe('Why the call failed.'),
  })
  .meta({ id: 'TestTranscriptTool' });

const line = z
  .object({
    role: z.enum(['user', 'agent', 'tool']).describe('Who spoke; `tool`: a tool was called.'),
    text: z.string().describe('What was said, or the call.'),
    at_ms: z.number().min(0).describe('Milliseconds since the conversation began.'),
    tool: lineTool.optional().describe('The name of the tool; only where one was called.'),
  })
  .meta({ id: 'TestTranscriptLine' });

const attemptError = z
  .object({ path: z.string().optional().describe('Where it stands in the AgentTest.'), message: z.string().describe('What went wrong.') })
  .meta({ id: 'TestAttemptError' });

const attempt = z
  .object({
    verdict,
    checks: z.array(check).describe('The checks, in the order of the AgentTest.'),
    transcript: z.array(line).describe('The conversation, up to the first check that failed.'),
    finish_reason: z.string().optional().describe('How the conversation ended, where it came to its end.'),
    duration_ms: z.number().min(0).describe('How long it took, in milliseconds.'),
    call_id: z.string().optional().describe('In audio mode: the call, for its recording.'),
    error: attemptError.optional().describe('Why it could not be evaluated.'),
  })
  .meta({ id: 'TestAttempt' });

const result = z
  .object({
    test: z.string().describe('Name of the AgentTest.'),
    required: z.boolean().describe('Whether a revision has to pass it before it is served.'),
    mode: z.enum(['text', 'audio']).describe('Whether it is a conversation in text, or a call.'),
    verdict: verdict.optional().describe('Absent while it is to be evaluated.'),
    passed: count.optional().describe('Attempts that passed.'),
    failed: count.optional().describe('Attempts that did not pass.'),
    flaky: z.boolean().optional().describe('Passed, although some attempts did not.'),
    message: z.string().optional().describe('The first failure.'),
    finished_at: time.optional().describe('When it was evaluated.'),
    usage: callUsage
      .optional()
      .describe(
        'What models have used in all attempts; in audio mode without what the calls have used, which have their own. Absent where none was asked.',
      ),
    attempts: z.array(attempt).describe('The attempts, at most 20; those that did not pass come first.'),
  })
  .meta({ id: 'TestResult' });

const runFields = z.object({
  _id: z.string().describe('Id of the run.'),
  ai_agent_id: z.string().describe('The agent that is tested.'),
  revision: z.string().describe('The revision of the agent that is tested.'),
  trigger: z
    .enum(['gate', 'request', 'schedule'])
    .describe('`gate`: the revision is to be served; `request`: over REST; `schedule`: it was time.'),
  state: z.enum(['queued', 'running', 'finished', 'cancelled']).describe('`finished` and `cancelled` are final.'),
  verdict: verdict
    .optional()
    .describe('`failed` if a test did, else `error` if one could not be evaluated; absent until the run has finished.'),
  requested_by: z.string().optional().describe('Of a run that was requested: `created_by_user_id` of the key.'),
  created_at: time.describe('When it was requested.'),
  started_at: time.optional().describe('When a worker began it.'),
  finished_at: time.optional().describe('When it ended.'),
});

const testRunSummary = runFields.meta({ id: 'TestRunSummary' });

export const testRun = runFields.extend({ results: z.array(result).describe('One for each test, by name.') }).meta({ id: 'TestRun' });

export const testRunList = z
  .object({
    data: z.array(testRunSummary).describe('The newest first.'),
    next_page_token: z.string().nullable().describe('For `page_token` of the next page; null on the last one.'),
  })
  .meta({ id: 'TestRunList' });

export type TestRunSummaryAnswer = z.output<typeof testRunSummary>;
export type TestRunAnswer = z.output<typeof testRun>;
export type AttemptAnswer = z.output<typeof attempt>;
