/** Declares the watch caches of the kinds, with the indexes that the facade asks for. */
import {
  agentKind,
  agentTestKind,
  knowledgeBaseKind,
  phoneNumberKind,
  subscriptionNameOf,
  toolKind,
  webhookSubscriptionKind,
  type Agent,
  type AgentTest,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../crds/index.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { ResourceDependencies } from '../dependencies.ts';
import type { ResourceContext } from '../resources/context.ts';
import { createClient } from '../resources/core-clients.ts';
import { View, type ViewOptions } from '../resources/view.ts';

export interface Views {
  readonly agents: View<Agent>;
  /** Its index `agent` has keys `namespace/agent name`. */
  readonly tools: View<Tool>;
  /** Its index `agent` has keys `namespace/agent name`. */
  readonly agentTests: View<AgentTest>;
  /** Its index `number` spans all organisations. */
  readonly phoneNumbers: View<PhoneNumber>;
  /** Its index `displayName` has keys `namespace/name for people`. */
  readonly knowledgeBases: View<KnowledgeBase>;
  /** Its index `displayName` has keys `namespace/name for people`. */
  readonly webhookSubscriptions: View<WebhookSubscription>;
}

export function createViews(dependencies: ResourceDependencies, { availability }: ResourceContext): Views {
  const view = <T extends KubeObject>(
    { descriptor }: Pick<typeof agentKind, 'descriptor'>,
    name: string,
    indexes: NonNullable<ViewOptions<T>['indexes']> = {},
  ): View<T> => new View<T>({ ...dependencies, client: createClient<T>(availability.transport, descriptor), name, indexes, availability });
  return {
    agents: view(agentKind, 'agents'),
    tools: view(toolKind, 'tools', {
      agent: ({ metadata, spec }) => (spec.agentRefs ?? []).map(({ name }) => `${metadata.namespace ?? ''}/${name}`),
    }),
    agentTests: view(agentTestKind, 'agent tests', {
      agent: ({ metadata, spec }) => spec.agentRefs.map(({ name }) => `${metadata.namespace ?? ''}/${name}`),
    }),
    phoneNumbers: view(phoneNumberKind, 'phone numbers', { number: ({ spec }) => [spec.number] }),
    knowledgeBases: view(knowledgeBaseKind, 'knowledge bases', {
      displayName: ({ metadata, spec }) => [`${metadata.namespace ?? ''}/${spec.displayName ?? metadata.name}`],
    }),
    webhookSubscriptions: view(webhookSubscriptionKind, 'webhook subscriptions', {
      displayName: (subscription) => [`${subscription.metadata.namespace ?? ''}/${subscriptionNameOf(subscription)}`],
    }),
  };
}
