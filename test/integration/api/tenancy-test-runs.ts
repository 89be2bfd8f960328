/** Requests the routes of test runs, for the model of two organisations: no AgentTest selects its agents, so that there are no runs. */
import { pick, same, type Generator, type Situation } from './tenancy-model.ts';

const anId = ({ random }: Situation): string => pick(random, ['run_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6', 'run_1', 'UPPER', '%00']) ?? '';

export const testRunGenerators: Readonly<Record<string, Generator>> = {
  'POST /v2/ai-agents/:ai_agent_id/test-runs': ({ foreign, random }) => {
    const agent = pick(random, [...foreign.agents.keys(), foreign.servedAgent, 'agent-aaaaaaaaaaaaaaaa', 'UPPER', '%00']) ?? '';
    return { request: { path: `/v2/ai-agents/${agent}/test-runs`, body: {} }, expected: { status: 404 } };
  },
  'GET /v1/test-runs': ({ own, foreign, random }) => {
    const agent = pick(random, [own.servedAgent, foreign.servedAgent, '%00']) ?? '';
    return {
      request: { path: '/v1/test-runs', query: `ai_agent_id=${agent}` },
      expected: { status: 200, learn: ({ body }) => same(body.data, [], 'the test runs of an agent') },
    };
  },
  'GET /v1/test-runs/:test_run_id': (situation) => ({
    request: { path: `/v1/test-runs/${anId(situation)}` },
    expected: { status: 404 },
  }),
};
