/** Who uses an agent or a knowledge base that is to be deleted, and how they let go of it. */
import {
  agentKind,
  phoneNumberKind,
  webhookSubscriptionKind,
  type Agent,
  type PhoneNumber,
  type WebhookSubscription,
} from '../../crds/index.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import { covers, type Permission } from '../../store/index.ts';
import { agentSecretRefs } from '../agents/codec.ts';
import { agentFieldNames } from '../agents/field-names.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import type { Specified } from '../partial/partial-update.ts';
import { shapeOf } from '../partial/shape.ts';
import { phoneNumberSecretRefs } from '../phone-numbers/codec.ts';
import { phoneNumberFieldNames } from '../phone-numbers/field-names.ts';
import type { Foundation } from '../resources/foundation.ts';
import { inRestWords } from '../resources/kube-failures.ts';
import { ResourceWriter, type ResourceWriterOptions, type WriteMode } from '../resources/resource-writer.ts';
import { toolFieldNames } from '../tools/field-names.ts';
import { isAttachedByOthers, ToolWriter } from '../tools/tool-writer.ts';
import { webhookFieldNames } from '../webhooks/field-names.ts';
import { subscriptionSecretRefs } from '../webhooks/signing-secret.ts';

/** One object that names another one. */
export interface User {
  /** As in `phone number pn-…`. */
  readonly noun: string;
  readonly name: string;
  /** What a key needs to change it; absent where it needs none beyond the deletion itself. */
  readonly permission?: Permission;
  /** Takes the reference out, from other field managers too. */
  readonly letGo: (mode: WriteMode) => Promise<unknown>;
}

/** Users that a refusal names. */
const namesShown = 10;

export class Users {
  readonly #foundation: Foundation;
  readonly #tools: ToolWriter;

  constructor(foundation: Foundation) {
    this.#foundation = foundation;
    this.#tools = new ToolWriter(foundation);
  }

  /** Agents that look things up in it. */
  async ofKnowledgeBase(org: string, name: string): Promise<readonly User[]> {
    const { views, clients } = this.#foundation;
    const user = this.#usersOf<Agent>('AI agent', 'agents:write', {
      kind: 'Agent',
      client: clients.agents,
      view: views.agents,
      shape: shapeOf(agentKind.spec),
      fieldNames: agentFieldNames,
      secretRefs: agentSecretRefs,
    });
    return (await views.agents.find('namespace', org))
      .filter(({ spec }) => spec.knowledgeBaseRef?.name === name)
      .map((agent) =>
        user(agent, ({ knowledgeBaseRef, ...rest }) => (knowledgeBaseRef?.name === name ? rest : { knowledgeBaseRef, ...rest })),
      );
  }

  /** Phone numbers, subscriptions, and the tools that another field manager has attached; the others go with it or are detached by its deletion. */
  async ofAgent(org: string, name: string): Promise<readonly User[]> {
    const { views } = this.#foundation;
    const [numbers, subscriptions, tools] = await Promise.all([
      views.phoneNumbers.find('namespace', org),
      views.webhookSubscriptions.find('namespace', org),
      views.tools.find('agent', `${org}/${name}`),
    ]);
    return [
      ...this.#phoneNumbers(numbers, name),
      ...this.#subscriptions(subscriptions, name),
      ...tools
        .filter((tool) => isAttachedByOthers(tool, name))
        .map((tool): User => ({
          noun: 'tool',
          name: tool.metadata.name,
          letGo: (mode) => inRestWords(toolFieldNames, () => this.#tools.detach(org, tool.metadata.name, name, mode)),
        })),
    ];
  }

  #phoneNumbers(numbers: readonly Stored<PhoneNumber>[], agent: string): readonly User[] {
    const user = this.#usersOf<PhoneNumber>('phone number', 'phone_numbers:write', {
      kind: 'PhoneNumber',
      client: this.#foundation.clients.phoneNumbers,
      view: this.#foundation.views.phoneNumbers,
      shape: shapeOf(phoneNumberKind.spec),
      fieldNames: phoneNumberFieldNames,
      secretRefs: phoneNumberSecretRefs,
    });
    return numbers
      .filter(({ spec }) => spec.inboundAgentRef?.name === agent || spec.outboundAgentRef?.name === agent)
      .map((number) =>
        user(number, ({ inboundAgentRef, outboundAgentRef, ...rest }) => ({
          ...rest,
          ...(inboundAgentRef && inboundAgentRef.name !== agent && { inboundAgentRef }),
          ...(outboundAgentRef && outboundAgentRef.name !== agent && { outboundAgentRef }),
        })),
      );
  }

  /** A subscription that names no other agent goes on naming it: with none it would get the events of the whole organisation. */
  #subscriptions(subscriptions: readonly Stored<WebhookSubscription>[], agent: string): readonly User[] {
    const user = this.#usersOf<WebhookSubscription>('webhook subscription', 'webhooks:write', {
      kind: 'WebhookSubscription',
      client: this.#foundation.clients.webhookSubscriptions,
      view: this.#foundation.views.webhookSubscriptions,
      shape: shapeOf(webhookSubscriptionKind.spec),
      fieldNames: webhookFieldNames,
      secretRefs: subscriptionSecretRefs,
    });
    return subscriptions
      .filter(({ spec }) => spec.scope?.agentRefs?.some((ref) => ref.name === agent))
      .map((subscription) =>
        user(subscription, (spec) => {
          const left = (spec.scope?.agentRefs ?? []).filter((ref) => ref.name !== agent);
          return left.length === 0 ? spec : { ...spec, scope: { agentRefs: left } };
        }),
      );
  }

  #usersOf<T extends Specified>(noun: string, permission: Permission, options: Omit<ResourceWriterOptions<T>, 'foundation'>) {
    const writer = new ResourceWriter<T>({ foundation: this.#foundation, ...options });
    return ({ metadata }: Stored<KubeObject>, change: (spec: T['spec']) => unknown): User => ({
      noun,
      permission,
      name: metadata.name,
      letGo: (mode: WriteMode) =>
        inRestWords(options.fieldNames, () =>
          writer.update(metadata.namespace ?? '', metadata.name, async ({ spec }) => ({ spec: change(spec) }), mode),
        ),
    });
  }
}

/**
 * Before a deletion: nothing uses the object, or all let go of it.
 *
 * @param what as in `the AI agent is in use`
 * @throws ApiError `conflict` naming the users unless forced, `forbidden` where the key may not change one of them
 */
export async function release(
  users: readonly User[],
  what: string,
  { permissions }: Pick<Caller, 'permissions'>,
  { dryRun, force }: Pick<WriteMode, 'dryRun' | 'force'>,
): Promise<void> {
  if (users.length === 0) return;
  if (!force)
    throw new ApiError(
      'conflict',
      `${what} is in use by ${listed(users)}: take it out there, or delete it with ?force=true, which takes it out of them`,
    );
  const beyond = users.find(({ permission }) => permission !== undefined && !covers(permissions, permission));
  if (beyond !== undefined)
    throw new ApiError(
      'forbidden',
      `${beyond.noun} ${beyond.name} would have to change, and this API key lacks the permission ${beyond.permission}`,
    );
  for (const user of users) await user.letGo({ dryRun, force });
}

function listed(users: readonly User[]): string {
  const shown = users.slice(0, namesShown).map(({ noun, name }) => `${noun} ${name}`);
  return users.length > shown.length ? `${shown.join(', ')} and ${users.length - shown.length} more` : shown.join(', ');
}
