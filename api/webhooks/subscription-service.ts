/** Makes, changes and deletes webhook subscriptions. The relay knows every write before it is answered. */
import { subscriptionNameOf, webhookSubscriptionKind, type WebhookSubscription, type WebhookSubscriptionSpec } from '../../crds/index.ts';
import { unstorable } from '../../crds/unstorable.ts';
import type { Stored } from '../../kube/types.ts';
import type { WebhookStore } from '../../store/index.ts';
import { eventNames } from '../../events/catalogue.ts';
import { generateSigningKey } from '../../webhooks/signing/signing-keys.ts';
import { CURRENT_KEY_NAME } from '../../webhooks/signing/signing-secret.ts';
import { ApiError, notFound, requireNoIssues } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { currentRequest } from '../http/request-state.ts';
import type { Draft } from '../codec/draft.ts';
import { restLoc } from '../partial/field-names.ts';
import { orUndefined } from '../resources/companions.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import { usersAmong, type FindUsers } from '../references/users.ts';
import type { KindContext } from '../kinds/context.ts';
import { readableName } from '../resources/names.ts';
import { ResourceWriter, type ResourceChange, type ResourceKind, type WriteMode, type Written } from '../resources/resource-writer.ts';
import { requireFirst, requireFree, updateNamed, type NameClaim } from '../resources/unique-names.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { subscriptionFromRest, webhookFieldNames, type SubscriptionCreate, type SubscriptionUpdate } from './fields.ts';
import { headerRefs, shownHeaders } from './header-values.ts';
import { signingSecretName, subscriptionSecretRefs } from './signing-secret.ts';

export const subscriptionResource: ResourceKind<WebhookSubscription> = {
  definition: webhookSubscriptionKind,
  fieldNames: webhookFieldNames,
  companionRefs: (spec, name) => ({ Secret: subscriptionSecretRefs(spec, name) }),
};

/** Finds subscriptions to an agent's events. The last agent of one stays named: with none it would get the organisation's events. */
export function subscriptionsOfAgent(context: KindContext): FindUsers {
  const { webhookSubscriptions } = context.views;
  return usersAmong(new ResourceWriter(context, subscriptionResource, webhookSubscriptions), {
    noun: 'webhook subscription',
    permission: 'webhooks:write',
    find: async (org, agent) =>
      (await webhookSubscriptions.list(org)).filter(({ spec }) => spec.scope?.agentRefs?.some((ref) => ref.name === agent)),
    without: (spec, agent) => {
      const left = (spec.scope?.agentRefs ?? []).filter((ref) => ref.name !== agent);
      return left.length === 0 ? spec : { ...spec, scope: { type: 'AgentRefs', agentRefs: left } };
    },
  });
}

/** A subscription that was written, and its signing secret where this request made it. */
export interface WrittenSubscription {
  readonly subscription: Stored<WebhookSubscription>;
  readonly secret?: string | undefined;
  /** Values that a dry run would put into its Secret, by `refId`. */
  readonly unwritten?: ReadonlyMap<string, string> | undefined;
}

interface SubscriptionChange extends ResourceChange, Pick<WrittenSubscription, 'secret' | 'unwritten'> {}

export interface SubscriptionServiceOptions {
  readonly context: KindContext;
  readonly store: Pick<WebhookStore, 'raiseWatermark' | 'enable'>;
}

const KNOWN_EVENTS: ReadonlySet<string> = new Set(eventNames);

export class SubscriptionService {
  readonly writer: ResourceWriter<WebhookSubscription>;
  readonly #context: KindContext;
  readonly #store: SubscriptionServiceOptions['store'];

  constructor({ context, store }: SubscriptionServiceOptions) {
    this.#context = context;
    this.#store = store;
    this.writer = new ResourceWriter(context, subscriptionResource, context.views.webhookSubscriptions);
  }

  /**
   * Reads a subscription for an answer.
   * @throws ApiError `not_found` when there is no such subscription
   */
  async get(org: string, name: string): Promise<Stored<WebhookSubscription>> {
    const found = await this.#context.views.webhookSubscriptions.get(org, name);
    if (found === undefined) throw notFound('Webhook subscription');
    return found;
  }

  async byUid(org: string, uid: string): Promise<Stored<WebhookSubscription>> {
    const found = (await this.#context.views.webhookSubscriptions.list(org)).find(({ metadata }) => metadata.uid === uid);
    if (found === undefined) throw notFound('Webhook subscription');
    return found;
  }

  async create(caller: Caller, body: SubscriptionCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<WrittenSubscription> {
    const { org } = caller;
    const name = readableName('whs', body.name);
    const secrets = await this.writer.secretWriter(caller, name, undefined);
    const found: ValidationIssue[] = [];
    const spec = subscriptionFromRest(body, undefined, { secrets, eventNames: KNOWN_EVENTS, loc: ['body'], found });
    found.push(...textIssues(spec), ...this.#addressIssues(body.url), ...(await this.#unknownAgents(org, body, undefined)));
    requireNoIssues(found);
    const claims = [this.#claim(org, body.name)];
    await requireFree(claims);
    const secret = body.enable_signed_webhooks && !mode.dryRun ? generateSigningKey() : undefined;
    if (secret !== undefined) secrets.pending.set(CURRENT_KEY_NAME, secret);
    const confirm = async (created: Written<WebhookSubscription>): Promise<void> => {
      await requireFirst(created.object, claims);
      await this.#store.raiseWatermark(org, versionsOf(created));
    };
    const { object: subscription } = await this.writer.create(
      caller,
      name,
      { spec, companions: { Secret: secrets } },
      { ...mode, confirm },
    );
    return mode.dryRun ? { subscription, unwritten: secrets.unwritten } : { subscription, secret };
  }

  /** @throws ApiError `not_found` when there is no such subscription */
  async update(caller: Caller, name: string, body: SubscriptionUpdate, options: WriteMode): Promise<WrittenSubscription> {
    const { org } = caller;
    const bringsSecrets = body.headers !== undefined && body.headers !== null;
    const claims = (to: string) => [this.#claim(org, to, name)];
    const change = async (stored: Stored<WebhookSubscription>): Promise<SubscriptionChange> => {
      const secrets = await this.writer.secretWriter(caller, name, bringsSecrets ? stored : undefined);
      const found: ValidationIssue[] = [];
      const answered = currentRequest()?.answered ?? [];
      const spec = subscriptionFromRest(body, stored, { secrets, eventNames: KNOWN_EVENTS, answered, loc: ['body'], found });
      found.push(...textIssues(spec));
      // An address that was allowed when it was written stays until it is changed.
      if (body.url !== stored.spec.url) found.push(...this.#addressIssues(body.url));
      found.push(...(await this.#unknownAgents(org, body, stored)));
      requireNoIssues(found);
      if (body.name !== undefined && body.name !== subscriptionNameOf(stored)) await requireFree(claims(body.name));
      const { unwritten } = secrets;
      if (body.enable_signed_webhooks !== true || stored.spec.signing.mode !== 'None')
        return { spec, companions: { Secret: secrets }, unwritten };
      const expected = { key: CURRENT_KEY_NAME, version: await this.#ownSecretVersion(stored) };
      const secret = generateSigningKey();
      secrets.pending.set(CURRENT_KEY_NAME, secret);
      return { spec, companions: { Secret: { name: secrets.name, pending: secrets.pending, expected } }, secret, unwritten };
    };
    const { writer } = this;
    const update = (mode: WriteMode) => writer.update(org, name, change, mode);
    const withName = (spec: WebhookSubscriptionSpec, displayName: string) => ({ ...spec, displayName });
    const written = await updateNamed({ writer, org, name, to: body.name, nameOf: subscriptionNameOf, withName, claims, update }, options);
    if (written === undefined) throw notFound('Webhook subscription');
    const { object: subscription, change: wanted } = written;
    if (options.dryRun) return { subscription, unwritten: wanted.unwritten };
    if (body.active === true) await this.#store.enable({ org, subscriptionUid: subscription.metadata.uid });
    await this.#store.raiseWatermark(org, versionsOf(written));
    return { subscription, secret: wanted.secret };
  }

  /** @throws ApiError `not_found` when there is no such subscription */
  async delete(org: string, name: string, mode: Pick<WriteMode, 'dryRun' | 'requireState'>): Promise<void> {
    const remove = (): Promise<boolean> => this.writer.delete(org, name, mode);
    const { done, version } = mode.dryRun
      ? { done: await remove() }
      : await this.#context.views.webhookSubscriptions.deletion(org, name, remove);
    if (!done) throw notFound('Webhook subscription');
    if (version !== undefined) await this.#store.raiseWatermark(org, { subscriptions: version });
  }

  /** Returns the headers as `caller` may see them. */
  async headers(
    caller: Caller,
    subscription: Stored<WebhookSubscription>,
    unwritten: WrittenSubscription['unwritten'] = new Map(),
  ): Promise<Readonly<Record<string, string>>> {
    const refs = headerRefs(subscription.spec);
    const stored = refs.length === 0 ? new Map<string, string>() : await this.#context.companions.secretsIfReadable(caller.org, refs);
    return shownHeaders(subscription, { values: stored && new Map([...stored, ...unwritten]), everything: mayReadSecrets(caller) });
  }

  /**
   * Returns the resource version of the signing Secret, whose name is fixed: a person's Secret of that name is never written to.
   * @returns null where there is none
   */
  async #ownSecretVersion(stored: Stored<WebhookSubscription>): Promise<string | null> {
    const { namespace = '', name: id } = stored.metadata;
    const name = signingSecretName(id);
    const found = await orUndefined(this.#context.clients.secrets.get({ namespace, name }));
    if ((await this.#context.companions.nameFor('Secret', stored)) === name) return found?.metadata.resourceVersion ?? null;
    throw new ApiError('conflict', `the Secret ${name}, which would hold the signing secret, belongs to something else: delete it first`);
  }

  #addressIssues(url: string | undefined): readonly ValidationIssue[] {
    const problem = url === undefined ? undefined : this.#context.addresses.web(url);
    return problem === undefined ? [] : [issues.value(['body', 'url'], problem)];
  }

  #unknownAgents(
    org: string,
    { agent_ids: ids }: SubscriptionCreate | SubscriptionUpdate,
    previous: Stored<WebhookSubscription> | undefined,
  ): Promise<readonly ValidationIssue[]> {
    const before = (previous?.spec.scope?.agentRefs ?? []).map(({ name }) => name);
    const named = (ids ?? []).map((id, index) => ({ loc: ['body', 'agent_ids', index], id, before }));
    return unknownReferences(this.#context.views.agents, org, 'AI agent', named);
  }

  #claim(org: string, displayName: string, except?: string): NameClaim<WebhookSubscription> {
    return {
      view: this.#context.views.webhookSubscriptions,
      index: 'displayName',
      value: `${org}/${displayName}`,
      listed: { namespace: org },
      isRival: (other) => other.metadata.name !== except && subscriptionNameOf(other) === displayName,
      refusal: () => nameTaken(displayName),
    };
  }
}

function textIssues(spec: Draft<WebhookSubscription['spec']>): readonly ValidationIssue[] {
  return unstorable(spec, 'spec').map(({ path, message }) => issues.value(restLoc(webhookFieldNames, path) ?? ['body'], message));
}

function versionsOf({ object, secretVersion }: Written<WebhookSubscription>) {
  return { subscriptions: object.metadata.resourceVersion, secrets: secretVersion };
}

function nameTaken(name: string): ApiError {
  return new ApiError('conflict', `the organisation has a webhook subscription called ${JSON.stringify(name)} already; use another name`);
}
