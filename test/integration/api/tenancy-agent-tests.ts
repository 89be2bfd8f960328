/** Requests the routes of AgentTests, for the model of two organisations. */
import { agentId, aName, anId, atMost, list, same, type Generator, type Situation } from './tenancy-model.ts';

const all = '/v1/agent-tests';
const saying = (user: string): readonly unknown[] => [{ user, expect: [{ answer: { max_words: 40 } }] }];
const testId = (situation: Situation): string =>
  anId(situation, [...situation.own.agentTests.keys()], [...situation.foreign.agentTests.keys()]);
const said = (body: unknown): unknown => (body as { readonly conversation: readonly { readonly user: string }[] }).conversation[0]?.user;

export const agentTestGenerators: Readonly<Record<string, Generator>> = {
  [`POST ${all}`]: (situation) => {
    const { own } = situation;
    const agent = agentId(situation);
    const user = aName(situation);
    const dryRun = own.agentTests.size >= atMost;
    return {
      request: {
        path: all,
        body: { ai_agent_ids: [agent], conversation: saying(user) },
        ...(dryRun && { query: 'dry_run=true' }),
      },
      expected: {
        status: own.agents.has(agent) ? 201 : 422,
        learn: ({ body }) => void (dryRun || own.agentTests.set(body['test_id'] as string, user)),
      },
    };
  },
  [`GET ${all}`]: list(
    all,
    ({ agentTests }) => [...agentTests.keys()],
    (item) => item['test_id'],
  ),
  [`GET ${all}/:test_id`]: (situation) => {
    const id = testId(situation);
    const user = situation.own.agentTests.get(id);
    return {
      request: { path: `${all}/${id}` },
      expected: { status: user === undefined ? 404 : 200, learn: ({ body }) => same(said(body), user, `the test ${id}`) },
    };
  },
  [`PUT ${all}/:test_id`]: (situation) => {
    const { own, random } = situation;
    const id = testId(situation);
    const user = aName(situation);
    const broken = random() < 0.2;
    return {
      request: { path: `${all}/${id}`, body: { conversation: broken ? 5 : saying(user) } },
      expected: {
        status: broken ? 422 : own.agentTests.has(id) ? 200 : 404,
        learn: ({ body }) => {
          same(said(body), user, `the changed test ${id}`);
          own.agentTests.set(id, user);
        },
      },
    };
  },
  [`DELETE ${all}/:test_id`]: (situation) => {
    const { own, random } = situation;
    const id = testId(situation);
    const dryRun = random() < 0.7;
    return {
      request: { path: `${all}/${id}`, ...(dryRun && { query: 'dry_run=true' }) },
      expected: {
        status: own.agentTests.has(id) ? 200 : 404,
        learn: () => {
          if (!dryRun && own.agentTests.delete(id)) own.gone.push(id);
        },
      },
    };
  },
};
