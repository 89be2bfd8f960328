import { z } from 'zod';

import { deleted, listOf } from '../codec/answers.ts';
import { dryRunQuery, writeQuery } from '../http/conditions.ts';
import { routesOf } from '../http/route.ts';
import { resourcePage } from '../state/answers.ts';
import { agentTestAnswer, agentTestCreate, agentTestUpdate } from './fields.ts';

const defineRoute = routesOf('Agent tests');
const ALL = '/v1/agent-tests' as const;
const ONE = '/v1/agent-tests/:test_id' as const;
const params = { test_id: 'The `test_id`: the name of the AgentTest resource.' };

const body = {
  test_id: 'opening-hours',
  ai_agent_ids: ['receptionist'],
  required: true,
  conversation: [
    {
      user: 'What are your opening hours?',
      expect: [{ answer: { contains: ['nine', 'six'], max_words: 40 } }, { judge: 'offers further help' }, { within: '2s' }],
    },
    { user: 'Thanks, bye!', expect: [{ ends: 'agent_ended_call' }] },
  ],
  at_end: [{ never_called: 'transfer_call' }],
};

const simulated = {
  test_id: 'order-status',
  ai_agent_ids: ['receptionist'],
  tools: [{ name: 'look_up_order', when: { order_id: '42' }, returns: { state: 'shipped' } }],
  simulated_user: { persona: 'impatient', goal: 'find out whether order 42 has shipped', max_turns: 12 },
  at_end: [{ called: { name: 'look_up_order', times: 1 } }],
  judge: { model_provider: 'openai', model_name: 'gpt-4o-mini' },
  repeat: 3,
  pass_at_least: 2,
};

const example = {
  ...body,
  mode: 'text',
  dynamic_data: {},
  repeat: 1,
  timeout: '2m',
  results: [
    {
      ai_agent_id: 'receptionist',
      revision: '3f9c5f0a7d1be2c49f2f0d7ce0a6d5c1b8e4f7a2930d6c5b4a39281706f5e4d3',
      verdict: 'failed',
      passed: 0,
      failed: 1,
      flaky: false,
      test_run_id: 'run_0199f2d0-7b1e-7c3a-9d52-1f2e3d4c5b6a',
      finished_at: '2026-11-21T09:00:11Z',
      message: 'turn 1: the answer does not contain "six"',
    },
  ],
  created_at: '2026-11-21T09:00:00Z',
  updated_at: '2026-11-21T09:00:00Z',
  state: { ready: true, reason: 'Available', message: 'tests 1 agent' },
};

const writes = { permission: 'agents:write', errors: ['conflict'] } as const;

export const createAgentTest = defineRoute({
  method: 'POST',
  path: ALL,
  operationId: 'createAgentTest',
  mcp: {},
  summary: 'Make a test of agents',
  description: 'A required one holds back the next revision of its agents until it has passed; what serves stays in service.',
  query: z.object(dryRunQuery),
  body: agentTestCreate.meta({ id: 'AgentTestCreate' }),
  bodyExamples: { 'a conversation': body, 'a user that a model plays': simulated },
  answers: { 201: { description: 'The test.', schema: agentTestAnswer, example, headers: ['ETag'], identifies: { test_id: 'test_id' } } },
  ...writes,
});

export const listAgentTests = defineRoute({
  method: 'GET',
  path: ALL,
  operationId: 'listAgentTests',
  mcp: {},
  summary: 'List the tests of agents, in the order of their creation',
  permission: 'agents:read',
  query: resourcePage,
  answers: {
    200: {
      description: 'A page of tests.',
      schema: listOf(agentTestAnswer, 'AgentTestList'),
      example: { data: [example], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const getAgentTest = defineRoute({
  method: 'GET',
  path: ONE,
  operationId: 'getAgentTest',
  summary: 'Get a test of agents',
  permission: 'agents:read',
  params,
  answers: { 200: { description: 'The test.', schema: agentTestAnswer, example, headers: ['ETag', 'Age'] } },
});

export const updateAgentTest = defineRoute({
  method: 'PUT',
  path: ONE,
  operationId: 'updateAgentTest',
  mcp: {},
  summary: 'Change the fields given',
  description:
    'Absent fields keep their value, `null` brings back the default; lists are replaced as a whole. Another wording is another test: its former results say nothing of it.',
  params,
  query: writeQuery,
  ifMatch: true,
  body: agentTestUpdate.meta({ id: 'AgentTestUpdate' }),
  bodyExamples: { 'more attempts': { repeat: 5, pass_at_least: 4 } },
  answers: { 200: { description: 'The test as it is now.', schema: agentTestAnswer, example, headers: ['ETag'] } },
  ...writes,
});

export const deleteAgentTest = defineRoute({
  method: 'DELETE',
  path: ONE,
  operationId: 'deleteAgentTest',
  mcp: {},
  summary: 'Delete a test of agents',
  description: 'What it held back is served, unless another test holds it back.',
  params,
  query: z.object(dryRunQuery),
  ifMatch: true,
  answers: { 200: deleted('The test was deleted') },
  ...writes,
});
