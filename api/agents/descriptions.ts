import { listOf, deleted } from '../codec/answers.ts';
import { deletionQuery, writeQuery } from '../http/conditions.ts';
import { routesOf } from '../http/route.ts';
import { resourcePage } from '../state/answers.ts';
import { agentChange, agentExample, fullAgent, smallAgent } from './examples.ts';
import { agentAnswer, agentCreate, agentUpdate } from './fields.ts';

const defineRoute = routesOf('AI agents');
const params = { ai_agent_id: 'The `ai_agent_id`: the name of the Agent resource.' };

export const createAgent = defineRoute({
  method: 'POST',
  path: '/v2/ai-agents',
  operationId: 'createAgent',
  mcp: {},
  summary: 'Make an agent',
  permission: 'agents:write',
  query: writeQuery,
  body: agentCreate.meta({ id: 'AgentCreate' }),
  bodyExamples: { 'what is needed': smallAgent, 'with a tool, a lookup and an analysis': fullAgent },
  answers: {
    201: {
      description: 'The agent.',
      schema: agentAnswer,
      example: agentExample,
      headers: ['ETag'],
      identifies: { ai_agent_id: 'ai_agent_id' },
    },
  },
  errors: ['conflict'],
});

export const listAgents = defineRoute({
  method: 'GET',
  path: '/v2/ai-agents',
  operationId: 'listAgents',
  mcp: {},
  summary: 'List agents, in the order of their creation',
  permission: 'agents:read',
  query: resourcePage,
  answers: {
    200: {
      description: 'A page of agents.',
      schema: listOf(agentAnswer, 'AgentList'),
      example: { data: [agentExample], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const getAgent = defineRoute({
  method: 'GET',
  path: '/v2/ai-agents/:ai_agent_id',
  operationId: 'getAgent',
  mcp: { resource: 'agents' },
  summary: 'Get an agent',
  permission: 'agents:read',
  params,
  answers: { 200: { description: 'The agent.', schema: agentAnswer, example: agentExample, headers: ['ETag', 'Age'] } },
});

export const updateAgent = defineRoute({
  method: 'PUT',
  path: '/v2/ai-agents/:ai_agent_id',
  operationId: 'updateAgent',
  mcp: {},
  summary: 'Change the fields given',
  description:
    'Absent fields keep their value, also within `llm`, `stt` and `tts`; `null` brings back the default. Lists are replaced as a whole.',
  permission: 'agents:write',
  params,
  query: writeQuery,
  ifMatch: true,
  body: agentUpdate.meta({ id: 'AgentUpdate' }),
  bodyExamples: { 'three changes': agentChange },
  answers: { 200: { description: 'The agent as it is now.', schema: agentAnswer, example: agentExample, headers: ['ETag'] } },
  errors: ['conflict'],
});

export const deleteAgent = defineRoute({
  method: 'DELETE',
  path: '/v2/ai-agents/:ai_agent_id',
  operationId: 'deleteAgent',
  mcp: {},
  summary: 'Delete an agent',
  description:
    'Calls that are being held end as they began. While a phone number, a webhook subscription or a tool of another field manager names it, the answer is 409, unless forced.',
  permission: 'agents:write',
  params,
  query: deletionQuery,
  ifMatch: true,
  answers: { 200: deleted('The AI agent was deleted') },
  errors: ['conflict'],
});
