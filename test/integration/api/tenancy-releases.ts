/** Requests the routes of releases, for the model of two organisations. Its agents have one revision: there is nothing to go back to. */
import { pick, same, type Generator, type Situation } from './tenancy-model.ts';

function anAgent({ own, foreign, random }: Situation): string {
  return pick(random, [own.servedAgent, own.servedAgent, foreign.servedAgent, 'agent-aaaaaaaaaaaaaaaa', 'UPPER', '%00']) ?? '';
}

const change = (name: 'rollback' | 'promote'): Generator => {
  return (situation) => {
    const agent = anAgent(situation);
    const broken = situation.random() < 0.2;
    return {
      request: { path: `/v2/ai-agents/${agent}/${name}`, body: broken ? { reason: 5 } : { reason: situation.own.marker } },
      expected: { status: broken ? 422 : agent === situation.own.servedAgent ? 409 : 404 },
    };
  };
};

export const releaseGenerators: Readonly<Record<string, Generator>> = {
  'GET /v2/ai-agents/:ai_agent_id/revisions': (situation) => {
    const agent = anAgent(situation);
    const { own } = situation;
    return {
      request: { path: `/v2/ai-agents/${agent}/revisions` },
      expected: {
        status: agent === own.servedAgent ? 200 : 404,
        learn: ({ body }) => {
          if (agent !== own.servedAgent) return;
          const data = body.data as readonly { readonly revision: string; readonly state: string }[];
          same(
            data.map(({ state }) => state),
            ['serving'],
            'the revisions of the agent that serves',
          );
          own.servedRevision = data[0]?.revision;
        },
      },
    };
  },
  'GET /v2/ai-agents/:ai_agent_id/revisions/:revision': (situation) => {
    const { own, foreign, random } = situation;
    const agent = anAgent(situation);
    const revision = pick(random, [own.servedRevision, foreign.servedRevision, 'ab'.repeat(32), '-']) ?? 'abcdef12';
    return {
      request: { path: `/v2/ai-agents/${agent}/revisions/${revision.slice(0, 16)}` },
      expected: { status: agent === own.servedAgent && revision === own.servedRevision ? 200 : 404 },
    };
  },
  'GET /v2/ai-agents/:ai_agent_id/release': (situation) => {
    const agent = anAgent(situation);
    return {
      request: { path: `/v2/ai-agents/${agent}/release` },
      expected: { status: agent === situation.own.servedAgent ? 200 : 404 },
    };
  },
  'POST /v2/ai-agents/:ai_agent_id/rollback': change('rollback'),
  'POST /v2/ai-agents/:ai_agent_id/promote': change('promote'),
};
