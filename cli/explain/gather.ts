/** Reads one object and everything its state depends on, once, with the permissions of whoever asks. */
import {
  agentKind,
  knowledgeBaseKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  wellKnown,
  type Agent,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../crds/index.ts';
import {
  KubeError,
  leases,
  ResourceClient,
  type KubeObject,
  type Lease,
  type ResourceDescriptor,
  type Stored,
  type Transport,
} from '../../kube/index.ts';
import { memorySnapshot, type DataEntry } from '../../operator/references/memory-snapshot.ts';
import { referencesOf, type ParleyObject, type Reference } from '../../operator/references/references-of.ts';
import type { ClusterSnapshot } from '../../operator/references/cluster-snapshot.ts';
import { attachments } from '../../operator/tool/attachment.ts';
import { unusableKeys } from '../../operator/webhook-subscription/signing-keys.ts';
import { UserError } from '../../platform/user-error.ts';
import type { Target } from './target.ts';

export interface Gathered {
  readonly object: Stored<ParleyObject>;
  readonly snapshot: ClusterSnapshot;
  /** What could not be looked at, and so was taken to be in order. */
  readonly notes: readonly string[];
  readonly operator: OperatorSign;
}

/** Whether an operator is at work, as far as its Lease tells. */
type OperatorSign = { readonly state: 'leading' | 'silent'; readonly holder: string } | { readonly state: 'none' | 'unknown' };

interface Keyed extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const core = (kind: string, plural: string, namespaced = true): ResourceDescriptor => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced,
});

/** @throws UserError when the object isn't there; KubeError when the cluster doesn't answer */
export async function gather(
  transport: Transport,
  target: Target,
  namespace: string,
  lease: { readonly namespace: string; readonly name: string },
): Promise<Gathered> {
  const reader = new Reader(transport, namespace);
  const object = await reader.object(target);
  const [labelled, agents, tools, knowledgeBases, subscriptions, phoneNumbers] = await Promise.all([
    reader.isOrganization(),
    reader.list<Agent>(agentKind.descriptor),
    reader.list<Tool>(toolKind.descriptor),
    reader.list<KnowledgeBase>(knowledgeBaseKind.descriptor),
    reader.list<WebhookSubscription>(webhookSubscriptionKind.descriptor),
    object.kind === 'PhoneNumber' ? reader.rivals(object as Stored<PhoneNumber>) : [],
  ]);
  const tooled = object.kind === 'Agent' ? tools.filter((tool) => attachments(tool).includes(object.metadata.name)) : [];
  const references = [object, ...tooled].flatMap((one) => referencesOf(one as ParleyObject));
  const [secrets, configMaps] = await Promise.all([reader.keyed('Secret', references), reader.keyed('ConfigMap', references)]);
  const others = await reader.organizationsOf(phoneNumbers);
  const snapshot = memorySnapshot({
    organizations: [...(labelled ? [namespace] : []), ...others],
    agents,
    tools,
    knowledgeBases,
    subscriptions,
    phoneNumbers,
    secrets,
    configMaps,
  });
  return { object, snapshot, notes: reader.notes, operator: await reader.operator(lease) };
}

class Reader {
  readonly notes: string[] = [];
  readonly #transport: Transport;
  readonly #namespace: string;

  constructor(transport: Transport, namespace: string) {
    this.#transport = transport;
    this.#namespace = namespace;
  }

  async object({ kind, name }: Target): Promise<Stored<ParleyObject>> {
    const namespace = this.#namespace;
    try {
      return await this.#client<ParleyObject>(kind.descriptor).get({ namespace, name });
    } catch (error) {
      if (!(error instanceof KubeError) || !error.notFound) throw error;
      const there = await this.list<KubeObject>(kind.descriptor).catch(() => []);
      const names = there.map((object) => object.metadata.name).sort();
      throw new UserError(`there is no ${kind.descriptor.kind} "${name}" in the organisation ${namespace}`, {
        cure:
          names.length === 0
            ? `there is none at all; name another organisation with -n, or check that the resource definitions are installed`
            : `there is: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}; or name another organisation with -n`,
        cause: error,
      });
    }
  }

  async list<T extends KubeObject>(descriptor: ResourceDescriptor): Promise<readonly Stored<T>[]> {
    return (await this.#client<T>(descriptor).listAll({ namespace: this.#namespace })).items;
  }

  async isOrganization(namespace = this.#namespace): Promise<boolean> {
    const found = await this.#allowed(`namespace ${namespace}`, () =>
      this.#client<KubeObject>(core('Namespace', 'namespaces', false), true).get({ name: namespace }),
    );
    // Not allowed to look: the common case is a user of one organisation, who works in a namespace that is one.
    return found === 'forbidden' || found?.metadata.labels?.[wellKnown.organizationLabel] === 'true';
  }

  /** Phone numbers are unique in the deployment; who may only see one organisation sees only its own. */
  async rivals(object: Stored<PhoneNumber>): Promise<readonly Stored<PhoneNumber>[]> {
    const client = this.#client<PhoneNumber>(phoneNumberKind.descriptor);
    const found = await this.#allowed('the phone numbers of other organisations', () =>
      client.listAll({ fieldSelector: `spec.number=${object.spec.number}` }),
    );
    return found === 'forbidden' || found === undefined ? [object] : found.items;
  }

  async organizationsOf(phoneNumbers: readonly KubeObject[]): Promise<readonly string[]> {
    const namespaces = [...new Set(phoneNumbers.map((object) => object.metadata.namespace ?? ''))].filter(
      (namespace) => namespace !== this.#namespace,
    );
    const labelled = await Promise.all(namespaces.map(async (namespace) => ((await this.isOrganization(namespace)) ? [namespace] : [])));
    return labelled.flat();
  }

  /** Of Secrets only the names of the keys are kept, and what their values can't be used for. */
  async keyed(kind: 'Secret' | 'ConfigMap', references: readonly Reference[]): Promise<readonly DataEntry[]> {
    const descriptor = kind === 'Secret' ? core('Secret', 'secrets') : core('ConfigMap', 'configmaps');
    const namespace = this.#namespace;
    const wanted = Map.groupBy(
      references.filter((reference) => reference.kind === kind),
      (reference) => reference.name,
    );
    const entries = await Promise.all(
      [...wanted].map(async ([name, wants]): Promise<readonly DataEntry[]> => {
        const found = await this.#allowed(`${kind} ${namespace}/${name}`, () => this.#client<Keyed>(descriptor).get({ namespace, name }));
        if (found === undefined) return [];
        if (found === 'forbidden')
          return [
            {
              namespace,
              name,
              uid: '',
              resourceVersion: '',
              keys: wants.flatMap(({ key }) => key ?? []),
              data: Object.fromEntries(wants.map(({ key }) => [key ?? '', ''])),
            },
          ];
        const { uid, resourceVersion, ownerReferences } = found.metadata;
        const keys = [...Object.keys(found.data ?? {}), ...Object.keys(found.binaryData ?? {})];
        return [
          {
            namespace,
            name,
            uid,
            resourceVersion,
            keys,
            owners: (ownerReferences ?? []).map((owner) => owner.uid),
            ...(kind === 'ConfigMap' && found.data ? { data: found.data } : {}),
            ...(kind === 'Secret' && { unusable: unusableKeys(found.data ?? {}) }),
          },
        ];
      }),
    );
    return entries.flat();
  }

  async operator({ namespace, name }: { readonly namespace: string; readonly name: string }): Promise<OperatorSign> {
    try {
      const { spec } = await this.#client<Lease>(leases).get({ namespace, name });
      const holder = spec?.holderIdentity;
      if (holder === undefined || holder === '') return { state: 'none' };
      const silentMs = Date.now() - Date.parse(spec?.renewTime ?? '');
      return { state: silentMs > (spec?.leaseDurationSeconds ?? 15) * 2_000 ? 'silent' : 'leading', holder };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return { state: 'unknown' };
    }
  }

  /** `undefined` where there is no such thing. */
  async #allowed<T>(what: string, read: () => Promise<T>): Promise<T | 'forbidden' | undefined> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof KubeError && error.notFound) return undefined;
      if (!(error instanceof KubeError) || error.code !== 403) throw error;
      this.notes.push(`you may not read ${what}, so it was taken to be in order`);
      return 'forbidden';
    }
  }

  #client<T extends KubeObject>(descriptor: ResourceDescriptor, metadataOnly = false): ResourceClient<T> {
    return new ResourceClient<T>({ transport: this.#transport, descriptor, fieldManager: 'parley-cli', metadataOnly });
  }
}
