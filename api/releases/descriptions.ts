import { routesOf } from '../http/route.ts';
import { pageQuery } from '../pagination/keyset.ts';
import { promotionBody, releaseAnswer, revisionAnswer, revisionList, rollbackBody } from './answers.ts';

const defineRoute = routesOf('AI agents');
const params = { ai_agent_id: 'The `ai_agent_id`: the name of the Agent resource.' };
const [older, newer] = ['4f'.repeat(32), '9c'.repeat(32)];
const AT = '2026-06-01T12:00:00.000Z';

const figuresExample = {
  calls: 40,
  errors: 5,
  errors_by_reason: { unknown_error: 5 },
  failed_tool_calls: 2,
  p95_voice_to_voice_ms: 1180,
  analysis: { results: 38, value: 89.5 },
};

const releaseExample = {
  ai_agent_id: 'receptionist-k3xq5w7z',
  serving_revision: older,
  active_since: AT,
  rolled_back: [{ revision: newer, aborted: false, reason: 'answers in the wrong language', requested_by: 'ada', at: AT }],
};

export const listRevisions = defineRoute({
  method: 'GET',
  path: '/v2/ai-agents/:ai_agent_id/revisions',
  operationId: 'listAgentRevisions',
  mcp: {},
  summary: 'List the revisions of an agent, the newest first',
  description: 'With what became of each and how its latest calls went. Revisions are kept for 30 days at least, and the newest 10.',
  permission: 'agents:read',
  params,
  query: pageQuery.extend({ page_size: pageQuery.shape.page_size.unwrap().max(50).default(20).describe('Revisions on a page.') }),
  answers: {
    200: {
      description: 'A page of revisions.',
      schema: revisionList,
      example: {
        data: [
          {
            revision: older,
            created_at: AT,
            state: 'serving',
            last_change: { change: 'served', at: AT },
            figures: figuresExample,
          },
        ],
        next_page_token: null,
      },
    },
  },
  errors: ['not_found'],
});

export const getRevision = defineRoute({
  method: 'GET',
  path: '/v2/ai-agents/:ai_agent_id/revisions/:revision',
  operationId: 'getAgentRevision',
  summary: 'Get a revision with its configuration',
  permission: 'agents:read',
  params: { ...params, revision: 'The hash of the revision, or the first 8 or more digits of it.' },
  answers: {
    200: {
      description: 'The revision.',
      schema: revisionAnswer,
      example: {
        revision: older,
        created_at: AT,
        configuration: { format: 1, name: 'receptionist-k3xq5w7z', systemPrompt: 'You are kind.' },
      },
    },
  },
  errors: ['not_found'],
});

export const getRelease = defineRoute({
  method: 'GET',
  path: '/v2/ai-agents/:ai_agent_id/release',
  operationId: 'getAgentRelease',
  mcp: {},
  summary: 'Get which revision serves, and which is tried',
  permission: 'agents:read',
  params,
  answers: { 200: { description: 'The release.', schema: releaseAnswer, example: releaseExample } },
  errors: ['not_found'],
});

export const rollBack = defineRoute({
  method: 'POST',
  path: '/v2/ai-agents/:ai_agent_id/rollback',
  operationId: 'rollBackAgent',
  summary: 'Have new calls start with a former revision',
  description:
    'At once, and while the Kubernetes API is away. The agent stays as it is: what was rolled back is not served again until it is promoted, whatever becomes of the agent. Calls that have begun keep their revision.',
  permission: 'agents:write',
  params,
  body: rollbackBody,
  bodyExamples: {
    'to what served before': { reason: 'answers in the wrong language' },
    'to a certain one': { revision: older.slice(0, 12) },
  },
  answers: { 200: { description: 'The release after it.', schema: releaseAnswer, example: releaseExample } },
  errors: ['not_found', 'conflict'],
});

export const promote = defineRoute({
  method: 'POST',
  path: '/v2/ai-agents/:ai_agent_id/promote',
  operationId: 'promoteAgent',
  summary: 'Have all new calls start with the canary',
  description:
    'At once, whatever its figures and tests say. Without a canary, what was rolled back last serves again, or the revision that is named; nothing else that was rolled back is forgotten.',
  permission: 'agents:write',
  params,
  body: promotionBody,
  bodyExamples: {
    'with a reason': { reason: 'the errors came from the carrier' },
    'of one that was rolled back': { revision: older.slice(0, 12) },
  },
  answers: { 200: { description: 'The release after it.', schema: releaseAnswer, example: { ...releaseExample, rolled_back: [] } } },
  errors: ['not_found', 'conflict'],
});
