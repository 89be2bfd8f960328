import type { FastifyInstance } from 'fastify';

import { CallLifecycle } from '../voice/calls/lifecycle.ts';
import { registerAgents } from './agents/routes.ts';
import { registerApiKeys } from './api-keys/routes.ts';
import { registerCallPage } from './call-page/routes.ts';
import { registerCalls } from './calls/routes.ts';
import type { ApiDependencies } from './dependencies.ts';
import { registerDocs } from './docs/routes.ts';
import { createServer } from './http/server.ts';
import { registerKnowledgeBases } from './knowledge-bases/routes.ts';
import { registerMediaEvents } from './media-events/routes.ts';
import { registerOpenApi } from './openapi/routes.ts';
import { registerPhoneNumbers } from './phone-numbers/routes.ts';
import { createFoundation } from './resources/foundation.ts';
import { Sweeper } from './resources/sweeper.ts';
import { registerTools } from './tools/routes.ts';
import { registerWebhooks } from './webhooks/routes.ts';

/** The facade, not yet listening. Its watch caches start with `ready()` and stop with `close()`. */
export function buildApi(dependencies: ApiDependencies): FastifyInstance {
  const app = createServer(dependencies);
  const foundation = createFoundation(dependencies);
  registerAgents(app, foundation);
  registerTools(app, foundation);
  registerPhoneNumbers(app, foundation);
  registerKnowledgeBases(app, foundation, dependencies);
  registerWebhooks(app, foundation, dependencies);
  registerCalls(app, foundation, dependencies);
  registerApiKeys(app, dependencies, foundation.pageTokens);
  registerOpenApi(app);
  registerDocs(app);
  const { mediaServer, page } = dependencies.calls;
  if (page) registerCallPage(app, dependencies.calls, foundation);
  if (mediaServer !== undefined) {
    const { calls } = dependencies.store.calls;
    registerMediaEvents(app, { ...dependencies, mediaServer, calls, lifecycle: new CallLifecycle({ calls, clock: dependencies.clock }) });
  }
  const sweeper = new Sweeper({ foundation, organizations: dependencies.store.organizations });
  app.addHook('onReady', async () => {
    foundation.contact.start();
    foundation.views.start();
    sweeper.start();
  });
  app.addHook('onClose', async () => {
    await sweeper.stop();
    await foundation.views.stop();
    await foundation.contact.stop();
  });
  return app;
}
