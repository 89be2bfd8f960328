import type { FastifyInstance } from 'fastify';

import type { ApiDependencies } from '../dependencies.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { isObjectName } from '../resources/names.ts';
import { testRunSummaryToRest, testRunToRest } from './codec.ts';
import { createTestRun, getTestRun, listTestRuns } from './descriptions.ts';
import { TestRunService } from './test-run-service.ts';

export function registerTestRuns(
  app: FastifyInstance,
  { views, pageTokens }: Pick<KindContext, 'views' | 'pageTokens'>,
  { store }: Pick<ApiDependencies, 'store'>,
): void {
  const runs = new TestRunService({ views, store });

  addRoute(app, createTestRun, async ({ params, body, caller, reply, timed }) => {
    const run = await timed('db', () => runs.request(caller, params.ai_agent_id, body));
    return reply.code(201).send(testRunToRest(run));
  });

  addRoute(app, listTestRuns, async ({ query, caller: { org }, timed }) => {
    const list = `test-runs/${org}`;
    const [after] = query.page_token === undefined ? [] : pageTokens.read(list, query.page_token);
    const { ai_agent_id: agentName, test: testName, state, page_size: pageSize } = query;
    // No agent or test can have another name.
    if ([agentName, testName].some((name) => name !== undefined && !isObjectName(name))) return { data: [], next_page_token: null };
    const { items, next } = await timed('db', () => store.testRuns.list({ org, agentName, testName, state, pageSize, after }));
    return { data: items.map(testRunSummaryToRest), next_page_token: next === undefined ? null : pageTokens.write(list, [next]) };
  });

  addRoute(app, getTestRun, async ({ params, caller: { org }, timed }) =>
    timed('db', async () => testRunToRest(await runs.get(org, params.test_run_id))),
  );
}
