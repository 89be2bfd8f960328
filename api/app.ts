import type { FastifyInstance } from 'fastify';

import { CallLifecycle } from '../calls/lifecycle.ts';
import { agentResource, agentsHandingOver, agentsOfKnowledgeBase } from './agents/agent-service.ts';
import { agentTestResource } from './agent-tests/agent-test-service.ts';
import { registerAgentTests } from './agent-tests/routes.ts';
import { registerAgents } from './agents/routes.ts';
import { registerApiKeys } from './api-keys/routes.ts';
import { registerCallPage } from './call-page/routes.ts';
import { registerCalls } from './calls/routes.ts';
import type { ApiDependencies } from './dependencies.ts';
import { registerDocs } from './docs/routes.ts';
import { registerExplanations } from './explain/routes.ts';
import { createServer } from './http/server.ts';
import { knowledgeBaseResource } from './knowledge-bases/knowledge-base-service.ts';
import { registerKnowledgeBases } from './knowledge-bases/routes.ts';
import { registerMcp } from './mcp-server/routes.ts';
import { registerMediaEvents } from './media-events/routes.ts';
import { registerOpenApi } from './openapi/routes.ts';
import { registerPeople } from './people/routes.ts';
import { phoneNumberResource, phoneNumbersOfAgent } from './phone-numbers/phone-number-service.ts';
import { registerPhoneNumbers } from './phone-numbers/routes.ts';
import { registerReleases } from './releases/routes.ts';
import { createContext, type KindContext } from './kinds/context.ts';
import { StagedSweeper, sweptKind, type StagedSweeperOptions } from './resources/sweeper.ts';
import { toolResource, toolsOfAgent } from './tools/tool-writer.ts';
import { registerTestRuns } from './test-runs/routes.ts';
import { registerTools } from './tools/routes.ts';
import { subscriptionResource, subscriptionsOfAgent } from './webhooks/subscription-service.ts';
import { registerUsage } from './usage/routes.ts';
import { registerWebhooks } from './webhooks/routes.ts';

/** Builds the facade, which doesn't listen yet. Its watch caches start with `ready()` and stop with `close()`. */
export function buildApi(dependencies: ApiDependencies): FastifyInstance {
  const app = createServer(dependencies);
  const context = createContext(dependencies);
  const usersOfAgents = [phoneNumbersOfAgent(context), subscriptionsOfAgent(context), toolsOfAgent(context), agentsHandingOver(context)];
  registerAgents(app, context, usersOfAgents, dependencies);
  registerReleases(app, context, dependencies);
  registerAgentTests(app, context);
  registerTools(app, context);
  registerPhoneNumbers(app, context, dependencies);
  registerKnowledgeBases(app, context, dependencies, [agentsOfKnowledgeBase(context)]);
  registerWebhooks(app, context, dependencies);
  registerCalls(app, context, dependencies);
  registerUsage(app, dependencies);
  registerPeople(app, dependencies);
  registerTestRuns(app, context, dependencies);
  registerExplanations(app, dependencies);
  registerApiKeys(app, dependencies, context.pageTokens);
  registerOpenApi(app);
  if (dependencies.mcp) registerMcp(app, dependencies);
  const { mediaServer, page } = dependencies.calls;
  registerDocs(app, { callPage: page });
  if (page) registerCallPage(app, dependencies.calls, context);
  if (mediaServer !== undefined) {
    const { calls } = dependencies.store.calls;
    registerMediaEvents(app, { ...dependencies, mediaServer, calls, lifecycle: new CallLifecycle({ calls, clock: dependencies.clock }) });
  }
  const sweeper = createSweeper(context, dependencies.store.organizations);
  app.addHook('onReady', async () => {
    context.start();
    sweeper.start();
  });
  app.addHook('onClose', async () => {
    await sweeper.stop();
    await context.stop();
  });
  return app;
}

export function createSweeper(context: KindContext, organizations: StagedSweeperOptions['organizations']): StagedSweeper {
  const { agents, agentTests, tools, phoneNumbers, knowledgeBases, webhookSubscriptions } = context.views;
  const kinds = [
    sweptKind(agents, agentResource),
    sweptKind(agentTests, agentTestResource),
    sweptKind(tools, toolResource),
    sweptKind(phoneNumbers, phoneNumberResource),
    sweptKind(knowledgeBases, knowledgeBaseResource),
    sweptKind(webhookSubscriptions, subscriptionResource),
  ];
  return new StagedSweeper({ context, organizations, kinds, parts: [tools.client] });
}
