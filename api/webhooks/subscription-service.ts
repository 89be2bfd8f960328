/** Making, changing and deleting webhook subscriptions. What is written is known to whoever relays events before it is answered. */
import { API_VERSION, subscriptionNameOf, webhookSubscriptionKind, wellKnown, type WebhookSubscription } from '../../crds/index.ts';
import { unstorable } from '../../crds/unstorable.ts';
import type { Stored } from '../../kube/types.ts';
import type { WebhookStore } from '../../store/index.ts';
import { eventNames } from '../../events/catalogue.ts';
import { generateSigningKey } from '../../webhooks/signing/signing-keys.ts';
import { currentKeyName } from '../../webhooks/signing/signing-secret.ts';
import { ApiError, ValidationFailed } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import type { Draft } from '../codec/present.ts';
import { restLoc } from '../partial/field-names.ts';
import { shapeOf } from '../partial/shape.ts';
import { cameFirst, isTaken, type FirstCome } from '../resources/first-come.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import type { Foundation } from '../resources/foundation.ts';
import { inRestWords } from '../resources/kube-failures.ts';
import { isObjectName, randomId } from '../resources/names.ts';
import { ResourceWriter, type WriteMode } from '../resources/resource-writer.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { subscriptionFromRest } from './codec.ts';
import { webhookFieldNames } from './field-names.ts';
import { headerRefs, shownHeaders } from './header-values.ts';
import type { SubscriptionCreate, SubscriptionUpdate } from './schema.ts';
import { signingSecretName, subscriptionSecretRefs } from './signing-secret.ts';

export interface UpdateOptions extends WriteMode {
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState: (resourceVersion: string) => void;
}

/** A subscription that was written, and its signing secret where this request made it. */
export interface Written {
  readonly subscription: Stored<WebhookSubscription>;
  readonly secret?: string | undefined;
}

export interface SubscriptionServiceOptions {
  readonly foundation: Foundation;
  readonly store: Pick<WebhookStore, 'raiseWatermark' | 'enable'>;
}

const knownEvents: ReadonlySet<string> = new Set(eventNames);

export class SubscriptionService {
  readonly writer: ResourceWriter<WebhookSubscription>;
  readonly #foundation: Foundation;
  readonly #store: SubscriptionServiceOptions['store'];

  constructor({ foundation, store }: SubscriptionServiceOptions) {
    this.#foundation = foundation;
    this.#store = store;
    this.writer = new ResourceWriter({
      foundation,
      kind: 'WebhookSubscription',
      client: foundation.clients.webhookSubscriptions,
      view: foundation.views.webhookSubscriptions,
      shape: shapeOf(webhookSubscriptionKind.spec),
      fieldNames: webhookFieldNames,
      secretRefs: subscriptionSecretRefs,
    });
  }

  list(org: string): Promise<readonly Stored<WebhookSubscription>[]> {
    return this.#foundation.views.webhookSubscriptions.find('namespace', org);
  }

  /**
   * For an answer.
   * @throws ApiError `not_found` when there is no such subscription
   */
  async get(org: string, name: string): Promise<Stored<WebhookSubscription>> {
    const found = isObjectName(name) ? await this.#foundation.views.webhookSubscriptions.get(org, name) : undefined;
    if (found === undefined) throw subscriptionNotFound();
    return found;
  }

  /** The same by `metadata.uid`. */
  async byUid(org: string, uid: string): Promise<Stored<WebhookSubscription>> {
    const found = (await this.list(org)).find(({ metadata }) => metadata.uid === uid);
    if (found === undefined) throw subscriptionNotFound();
    return found;
  }

  async create(caller: Caller, body: SubscriptionCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<Written> {
    const { org } = caller;
    const name = `whs-${randomId()}`;
    const secrets = await this.writer.secretWriter(caller, name, undefined);
    const found: ValidationIssue[] = [];
    const spec = subscriptionFromRest(body, undefined, { secrets, eventNames: knownEvents, found });
    found.push(...textIssues(spec), ...this.#addressIssues(body.url), ...(await this.#unknownAgents(org, body, undefined)));
    if (found.length > 0) throw new ValidationFailed(found);
    const claim = this.#claim(org, body.name);
    if (await isTaken(claim)) throw nameTaken(body.name);
    const secret = body.enable_signed_webhooks && !mode.dryRun ? generateSigningKey() : undefined;
    if (secret !== undefined) secrets.pending.set(currentKeyName, secret);
    const annotations = caller.userId === null ? undefined : { [wellKnown.createdBy]: caller.userId };
    const metadata = { namespace: org, name, ...(annotations && { annotations }) };
    const object = { apiVersion: API_VERSION, kind: 'WebhookSubscription', metadata, spec } as unknown as WebhookSubscription;
    return inRestWords(webhookFieldNames, async () => {
      const versions = new Versions();
      const subscription = await this.writer.create(object, secrets.pending, { ...mode, wroteSecret: versions.wroteSecret });
      if (mode.dryRun) return { subscription };
      try {
        if (!(await cameFirst(subscription, claim))) throw nameTaken(body.name);
        await this.#store.raiseWatermark(org, versions.with(subscription));
      } catch (error) {
        await this.writer.takeBack(subscription);
        throw error;
      }
      return { subscription, secret };
    });
  }

  /** @throws ApiError `not_found` when there is no such subscription */
  async update(caller: Caller, name: string, body: SubscriptionUpdate, options: UpdateOptions): Promise<Written> {
    const { org } = caller;
    if (!isObjectName(name)) throw subscriptionNotFound();
    const bringsSecrets = body.headers !== undefined && body.headers !== null;
    return inRestWords(webhookFieldNames, async () => {
      const versions = new Versions();
      const mode = { ...options, wroteSecret: versions.wroteSecret };
      let secret: string | undefined;
      let nameBefore: string | undefined;
      const written = await this.writer.update(
        org,
        name,
        async (stored) => {
          options.requireState(stored.metadata.resourceVersion);
          nameBefore = subscriptionNameOf(stored);
          const secrets = await this.writer.secretWriter(caller, name, bringsSecrets ? stored : undefined);
          const found: ValidationIssue[] = [];
          const spec = subscriptionFromRest(body, stored, { secrets, eventNames: knownEvents, found });
          found.push(...textIssues(spec));
          // What was allowed when it was written stays until somebody changes it.
          if (body.url !== stored.spec.url) found.push(...this.#addressIssues(body.url));
          found.push(...(await this.#unknownAgents(org, body, stored)));
          if (found.length > 0) throw new ValidationFailed(found);
          if (body.name !== undefined && body.name !== nameBefore && (await isTaken(this.#claim(org, body.name, name))))
            throw nameTaken(body.name);
          if (body.enable_signed_webhooks === true && stored.spec.signing === undefined) {
            await this.#requireOwnSecret(stored);
            secret = generateSigningKey();
            secrets.pending.set(currentKeyName, secret);
          }
          return { spec, secrets: secrets.pending };
        },
        mode,
      );
      if (written === undefined) throw subscriptionNotFound();
      if (options.dryRun) return { subscription: written };
      if (body.name !== undefined && body.name !== nameBefore) await this.#keepOnlyAsFirst(written, body.name, nameBefore, mode);
      if (body.active === true) await this.#store.enable({ org, subscriptionUid: written.metadata.uid });
      await this.#store.raiseWatermark(org, versions.with(written));
      return { subscription: written, secret };
    });
  }

  /** @throws ApiError `not_found` when there is no such subscription */
  async delete(org: string, name: string, options: Pick<UpdateOptions, 'dryRun' | 'requireState'>): Promise<void> {
    const decide = (stored: Stored<WebhookSubscription>): boolean => {
      options.requireState(stored.metadata.resourceVersion);
      return true;
    };
    if (!isObjectName(name)) throw subscriptionNotFound();
    const remove = (): Promise<boolean> => this.writer.delete(org, name, decide, options);
    if (options.dryRun) {
      if (!(await inRestWords(webhookFieldNames, remove))) throw subscriptionNotFound();
      return;
    }
    const { done, version } = await inRestWords(webhookFieldNames, () =>
      this.#foundation.views.webhookSubscriptions.deletion(org, name, remove),
    );
    if (!done) throw subscriptionNotFound();
    if (version !== undefined) await this.#store.raiseWatermark(org, { subscriptions: version });
  }

  /** The headers as `caller` may see them. */
  async headers(caller: Caller, subscription: Stored<WebhookSubscription>): Promise<Readonly<Record<string, string>>> {
    const refs = headerRefs(subscription.spec);
    const values = refs.length === 0 ? new Map<string, string>() : await this.#foundation.companions.secretsIfReadable(caller.org, refs);
    return shownHeaders(subscription, { values, everything: mayReadSecrets(caller) });
  }

  /** Two that are renamed at the same moment: the second one keeps the name that it had. */
  async #keepOnlyAsFirst(renamed: Stored<WebhookSubscription>, name: string, before: string | undefined, mode: WriteMode): Promise<void> {
    const { namespace: org = '', name: id } = renamed.metadata;
    if (await cameFirst(renamed, this.#claim(org, name, id))) return;
    const back = async ({ spec }: Stored<WebhookSubscription>) => ({
      spec: spec.displayName === name && before !== undefined ? { ...spec, displayName: before } : spec,
    });
    await this.writer.update(org, id, back, mode);
    throw nameTaken(name);
  }

  /** The Secret for the signing keys has one name: where a person has one of that name, nothing is written to it. */
  async #requireOwnSecret(stored: Stored<WebhookSubscription>): Promise<void> {
    const name = signingSecretName(stored.metadata.name);
    if ((await this.#foundation.companions.nameFor('Secret', stored)) === name) return;
    throw new ApiError('conflict', `the Secret ${name}, which would hold the signing secret, belongs to something else: delete it first`);
  }

  #addressIssues(url: string | undefined): readonly ValidationIssue[] {
    const problem = url === undefined ? undefined : this.#foundation.addresses.web(url);
    return problem === undefined ? [] : [issues.value(['body', 'url'], problem)];
  }

  #unknownAgents(
    org: string,
    { agent_ids: ids }: SubscriptionCreate | SubscriptionUpdate,
    previous: Stored<WebhookSubscription> | undefined,
  ): Promise<readonly ValidationIssue[]> {
    const before = (previous?.spec.scope?.agentRefs ?? []).map(({ name }) => name);
    const named = (ids ?? []).map((id, index) => ({ loc: ['body', 'agent_ids', index], id, before }));
    return unknownReferences(this.#foundation.views.agents, org, 'AI agent', named);
  }

  #claim(org: string, displayName: string, except?: string): FirstCome<WebhookSubscription> {
    const { clients, views } = this.#foundation;
    return {
      view: views.webhookSubscriptions,
      client: clients.webhookSubscriptions,
      index: 'displayName',
      value: `${org}/${displayName}`,
      listed: { namespace: org },
      isRival: (other) => other.metadata.name !== except && subscriptionNameOf(other) === displayName,
    };
  }
}

function textIssues(spec: Draft<WebhookSubscription['spec']>): readonly ValidationIssue[] {
  return unstorable(spec, 'spec').map(({ path, message }) => issues.value(restLoc(webhookFieldNames, path) ?? ['body'], message));
}

/** The resource versions that a write came to. */
class Versions {
  #secrets: string | undefined;

  readonly wroteSecret = (resourceVersion: string): void => {
    this.#secrets = resourceVersion;
  };

  with({ metadata }: Stored<WebhookSubscription>): { readonly subscriptions: string; readonly secrets: string | undefined } {
    return { subscriptions: metadata.resourceVersion, secrets: this.#secrets };
  }
}

/** The same for what is somebody else's, what doesn't exist and what can't exist. */
export function subscriptionNotFound(): ApiError {
  return new ApiError('not_found', 'Webhook subscription not found');
}

function nameTaken(name: string): ApiError {
  return new ApiError('conflict', `the organisation has a webhook subscription called ${JSON.stringify(name)} already; use another name`);
}
