import type { FastifyInstance } from 'fastify';

import { ValidationError, notFound } from '../http/api-error.ts';
import { preconditions, requireObject, sendEtag, writeModeOf } from '../http/conditions.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { listPage } from '../state/list-page.ts';
import { issues } from '../validation/issue.ts';
import { AgentTestService } from './agent-test-service.ts';
import { createAgentTest, deleteAgentTest, getAgentTest, listAgentTests, updateAgentTest } from './descriptions.ts';

export function registerAgentTests(app: FastifyInstance, context: KindContext): void {
  const tests = new AgentTestService(context);
  const view = context.views.agentTests;

  addRoute(app, createAgentTest, async ({ query, body, caller, reply }) => {
    const test = await tests.create(caller, body, { dryRun: query.dry_run });
    sendEtag(reply, test.metadata.resourceVersion);
    return reply.code(201).send(await tests.view(caller, test));
  });

  addRoute(app, listAgentTests, async ({ query, caller }) => {
    const objects = await view.list(caller.org);
    const stateOf = context.states.agentTest.bind(context.states);
    const { items, next_page_token } = await listPage(context.pageTokens, { list: `agent-tests/${caller.org}`, objects, query, stateOf });
    return { data: await Promise.all(items.map((test) => tests.view(caller, test))), next_page_token };
  });

  addRoute(app, getAgentTest, async ({ params, caller, reply }) => {
    return tests.view(caller, requireObject(reply, await view.get(caller.org, params.test_id), 'Agent test'));
  });

  addRoute(app, updateAgentTest, async ({ params: { test_id: id }, query, body, caller, request, reply }) => {
    if (typeof body.test_id === 'string' && body.test_id !== id)
      throw new ValidationError([
        issues.value(['body', 'test_id'], `the path names the test ${JSON.stringify(id)}, and its id can't change`),
      ]);
    return tests.view(caller, requireObject(reply, await tests.update(caller, id, body, writeModeOf(query, request)), 'Agent test'));
  });

  addRoute(app, deleteAgentTest, async ({ params, query, caller, request }) => {
    const options = { dryRun: query.dry_run, requireState: preconditions(request) };
    if (!(await tests.delete(caller.org, params.test_id, options))) throw notFound('Agent test');
    return { data: {}, message: query.dry_run ? 'The test would be deleted' : 'The test was deleted' };
  });
}
