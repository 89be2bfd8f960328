import type { FastifyInstance } from 'fastify';

import {
  agentKind,
  agentTestKind,
  knowledgeBaseKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  type KindDefinition,
} from '../../crds/index.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { ApiError } from '../http/api-error.ts';
import { meets, type Requirement } from '../http/permissions.ts';
import { requestState } from '../http/request-state.ts';
import { addRoute } from '../http/route.ts';
import { isObjectName } from '../resources/names.ts';
import { explainResource } from './descriptions.ts';

/** Most explanations at a time, each of which lists resources at the API server; an organisation with none gets one more. */
const AT_ONCE = 4;

interface ExplainedKind {
  readonly kind: KindDefinition;
  readonly permission: Exclude<Requirement, 'public'>;
}

const kinds: ReadonlyMap<string, ExplainedKind> = new Map<string, ExplainedKind>([
  ['agent', { kind: agentKind, permission: 'agents:read' }],
  ['tool', { kind: toolKind, permission: 'tools:read' }],
  ['phone_number', { kind: phoneNumberKind, permission: 'phone_numbers:read' }],
  ['knowledge_base', { kind: knowledgeBaseKind, permission: 'knowledge_bases:read' }],
  ['webhook_subscription', { kind: webhookSubscriptionKind, permission: 'webhooks:read' }],
  ['agent_test', { kind: agentTestKind, permission: 'agents:read' }],
]);

export function registerExplanations(app: FastifyInstance, { explain }: Pick<ApiDependencies, 'explain'>): void {
  const turns = new Semaphore(AT_ONCE, { kept: 1 });
  addRoute(app, explainResource, async ({ params, caller, request, timed }) => {
    const known = kinds.get(params.kind);
    if (known === undefined) throw new ApiError('not_found', `there is no such kind: use one of ${[...kinds.keys()].join(', ')}`);
    const { kind, permission } = known;
    if (!meets(caller.permissions, permission)) throw new ApiError('forbidden', `this API key lacks the permission ${permission}`);
    const object = { kind, org: caller.org, name: params.name };
    const found = isObjectName(params.name) ? await timed('kubernetes', () => inTurn(() => explain(object))) : undefined;
    if (found === undefined) throw new ApiError('not_found', `${kind.descriptor.kind} not found`);
    return found;

    async function inTurn<T>(work: () => Promise<T>): Promise<T> {
      const release = await turns.acquire(requestState(request).signal, caller.org);
      try {
        return await work();
      } finally {
        release();
      }
    }
  });
}
