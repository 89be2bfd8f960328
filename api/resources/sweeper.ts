/** Finishes or cleans up what a process that died in the middle of a write has left marked (staging.ts). Any number of replicas may do it. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import { KubeError } from '../../kube/error.ts';
import type { Timer } from '../../platform/clock.ts';
import type { Store } from '../../store/index.ts';
import { agentSecretRefs } from '../agents/codec.ts';
import type { KeyRef } from '../codec/secrets.ts';
import { phoneNumberSecretRefs } from '../phone-numbers/codec.ts';
import { toolSecretRefs } from '../tools/codec.ts';
import { subscriptionSecretRefs } from '../webhooks/signing-secret.ts';
import { orUndefined } from './companions.ts';
import type { Foundation } from './foundation.ts';
import type { ConfigMap, Secret } from './kinds.ts';
import { mergePatch } from './merge-patch.ts';
import { ownerReferenceTo, stagedLabel, stageOf, withoutMarks, type Stage } from './staging.ts';

/** Between two rounds, in milliseconds. */
const everyMs = 60_000;
/** Longer than any request lasts, in milliseconds: what is marked longer has been left behind. */
const abandonedAfterMs = 120_000;

const staged = `${stagedLabel}=true`;

export interface SweeperOptions {
  readonly foundation: Foundation;
  readonly organizations: Pick<Store['organizations'], 'list'>;
}

export class Sweeper {
  readonly #foundation: Foundation;
  readonly #organizations: SweeperOptions['organizations'];
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #mayListAll: boolean;

  constructor({ foundation, organizations }: SweeperOptions) {
    this.#foundation = foundation;
    this.#organizations = organizations;
    this.#mayListAll = foundation.namespace === undefined;
  }

  start(): void {
    const { clock, logger, random } = this.#foundation;
    this.#timer = clock.after(everyMs * (0.5 + random()), () => {
      this.#running = this.sweep().catch((err: unknown) =>
        logger.warn({ err }, 'could not look for unfinished writes; the next round does'),
      );
      void this.#running.then(() => (this.#stopped ? undefined : this.start()));
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  /** One round over all organisations. */
  async sweep(): Promise<void> {
    const { namespace } = this.#foundation;
    const organizations = namespace === undefined ? (await this.#organizations.list()).map(({ name }) => name) : [namespace];
    for (const client of this.#clients()) {
      if (this.#stopped) return;
      await this.#settleAll(client, await this.#staged(client, organizations));
    }
  }

  async sweepOrganization(org: string): Promise<void> {
    for (const client of this.#clients())
      await this.#settleAll(client, (await client.listAll({ namespace: org, labelSelector: staged })).items);
  }

  #clients(): readonly ResourceClient<KubeObject>[] {
    const { secrets, configMaps, tools } = this.#foundation.clients;
    return [secrets, configMaps, tools] as readonly ResourceClient<KubeObject>[];
  }

  /** With one question where that is allowed; where permissions are granted by namespace, with one for each organisation. */
  async #staged(client: ResourceClient<KubeObject>, organizations: readonly string[]): Promise<readonly Stored<KubeObject>[]> {
    const known = new Set(organizations);
    if (this.#mayListAll) {
      try {
        const { items } = await client.listAll({ labelSelector: staged });
        return items.filter(({ metadata }) => known.has(metadata.namespace ?? ''));
      } catch (error) {
        if (!isForbidden(error)) throw error;
        // Permissions seldom change: every round would be refused, and stand in the audit log.
        this.#mayListAll = false;
      }
    }
    const found: Stored<KubeObject>[] = [];
    for (const namespace of organizations) {
      try {
        found.push(...(await client.listAll({ namespace, labelSelector: staged })).items);
      } catch (error) {
        // An organisation whose namespace has not been granted (yet) must not keep the others from being looked after.
        if (!isForbidden(error)) throw error;
        this.#foundation.logger.debug({ org: namespace, kind: client.descriptor.kind }, 'not allowed to look for unfinished writes');
      }
    }
    return found;
  }

  async #settleAll(client: ResourceClient<KubeObject>, objects: readonly Stored<KubeObject>[]): Promise<void> {
    for (const object of objects) {
      try {
        await this.#settle(client, object);
      } catch (err) {
        // It changed meanwhile: somebody is at it.
        if (err instanceof KubeError && (err.staleConflict || err.notFound)) continue;
        const { namespace, name } = object.metadata;
        this.#foundation.logger.warn({ err, org: namespace, kind: object.kind, name }, 'an unfinished write stays for the next round');
      }
    }
  }

  async #settle(client: ResourceClient<KubeObject>, object: Stored<KubeObject>): Promise<void> {
    const stage = stageOf(object);
    if (stage === undefined || this.#foundation.clock.now() - Date.parse(stage.at) < abandonedAfterMs) return;
    const { namespace = '', name, uid, resourceVersion, ownerReferences = [] } = object.metadata;
    const owner = await this.#owner(namespace, stage);
    if (owner === undefined) {
      // With an owner reference the garbage collector sees to it.
      if (ownerReferences.length === 0) await client.delete({ namespace, name }, { uid, resourceVersion });
      return;
    }
    const unused = stage.keys.filter((key) => !owner.refs.some((ref) => ref.name === name && ref.key === key));
    await mergePatch(
      this.#foundation.transport,
      { descriptor: client.descriptor, namespace, name },
      {
        metadata: {
          resourceVersion,
          ...withoutMarks,
          ...(ownerReferences.length === 0 && { ownerReferences: [ownerReferenceTo(owner.object)] }),
        },
        ...(unused.length > 0 &&
          ({ data: Object.fromEntries(unused.map((key) => [key, null])) } satisfies Partial<Record<keyof (Secret & ConfigMap), unknown>>)),
      },
    );
  }

  /** The object for which something was staged, and what it refers to. */
  async #owner(
    namespace: string,
    { for: { kind, name } }: Stage,
  ): Promise<{ readonly object: Stored<KubeObject>; readonly refs: readonly KeyRef[] } | undefined> {
    const { clients } = this.#foundation;
    if (kind === 'Tool') {
      const tool = await orUndefined(clients.tools.get({ namespace, name }));
      return tool && { object: tool, refs: toolSecretRefs(tool.spec) };
    }
    if (kind === 'PhoneNumber') {
      const phoneNumber = await orUndefined(clients.phoneNumbers.get({ namespace, name }));
      return phoneNumber && { object: phoneNumber, refs: phoneNumberSecretRefs(phoneNumber.spec) };
    }
    if (kind === 'KnowledgeBase') {
      const knowledgeBase = await orUndefined(clients.knowledgeBases.get({ namespace, name }));
      return knowledgeBase && { object: knowledgeBase, refs: [] };
    }
    if (kind === 'WebhookSubscription') {
      const subscription = await orUndefined(clients.webhookSubscriptions.get({ namespace, name }));
      return subscription && { object: subscription, refs: subscriptionSecretRefs(subscription.spec, name) };
    }
    const agent = await orUndefined(clients.agents.get({ namespace, name }));
    if (agent === undefined) return undefined;
    const prompt = agent.spec.llm.systemPromptFrom?.configMapKeyRef;
    return { object: agent, refs: [...agentSecretRefs(agent.spec), ...(prompt ? [prompt] : [])] };
  }
}

const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.code === 403;
