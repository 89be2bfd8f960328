import { routesOf } from '../http/route.ts';
import { testRun, testRunList } from './answers.ts';
import { finishedRun, finishedSummary, queuedRun } from './examples.ts';
import { testRunCreate, testRunQuery } from './schema.ts';

const defineRoute = routesOf('Test runs');

export const createTestRun = defineRoute({
  method: 'POST',
  path: '/v2/ai-agents/:ai_agent_id/test-runs',
  operationId: 'createTestRun',
  mcp: { openWorld: true },
  summary: 'Test an agent',
  description:
    'Runs AgentTests of the agent in the cluster. The answer comes at once: read the run until its `state` is `finished`, or subscribe to `AgentTest.Completed`. A run with the newest results decides about required tests as one of the gate does. While 20 runs of the agent are not over, the answer is 409.',
  permission: 'agents:write',
  params: { ai_agent_id: 'The agent.' },
  body: testRunCreate.meta({ id: 'TestRunCreate' }),
  bodyExamples: { 'all tests': {}, 'one test of what calls get now': { tests: ['opening-hours'], revision: 'serving' } },
  answers: { 201: { description: 'The run, `queued`.', schema: testRun, example: queuedRun, identifies: { test_run_id: '_id' } } },
  errors: ['not_found', 'conflict'],
});

export const listTestRuns = defineRoute({
  method: 'GET',
  path: '/v1/test-runs',
  operationId: 'listTestRuns',
  mcp: {},
  summary: 'List test runs',
  description: 'The newest first, without results: a single run has them.',
  permission: 'agents:read',
  query: testRunQuery,
  answers: {
    200: { description: 'A page of runs.', schema: testRunList, example: { data: [finishedSummary], next_page_token: null } },
  },
});

export const getTestRun = defineRoute({
  method: 'GET',
  path: '/v1/test-runs/:test_run_id',
  operationId: 'getTestRun',
  mcp: { longLists: ['results'] },
  summary: 'Get a test run with its results',
  permission: 'agents:read',
  params: { test_run_id: 'The `_id`.' },
  answers: { 200: { description: 'The run.', schema: testRun, example: finishedRun } },
});
