/** Reads one object and everything its state depends on, once, with the permissions of the user. */
import {
  agentKind,
  agentTestKind,
  knowledgeBaseKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  type Agent,
  type AgentTest,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../../crds/index.ts';
import type { KubeObject, Stored } from '../../../kube/index.ts';
import { memorySnapshot, type DataEntry } from '../../../operator/references/memory-snapshot.ts';
import { referencesOf, type ParleyObject, type Reference } from '../../../operator/references/references-of.ts';
import type { ClusterSnapshot } from '../../../operator/references/cluster-snapshot.ts';
import { NO_TOOL_LIST, type ToolListView } from '../../../operator/references/tool-list-view.ts';
import { isServed } from '../../../operator/status/conditions.ts';
import { attachments } from '../../../operator/tool/attachment.ts';
import { unusableKeys } from '../../../operator/webhook-subscription/signing-keys.ts';
import { builtIn } from '../../cluster/descriptors.ts';
import { readNamespace } from '../../cluster/organizations.ts';
import type { Reader } from '../../cluster/reader.ts';
import type { ExplainTarget } from './target.ts';

export interface Gathered {
  readonly object: Stored<ParleyObject>;
  readonly snapshot: ClusterSnapshot;
  readonly agents: readonly Agent[];
  readonly tools: readonly Tool[];
  readonly knowledgeBases: readonly KnowledgeBase[];
  readonly subscriptions: readonly WebhookSubscription[];
  readonly agentTests: readonly AgentTest[];
}

interface Keyed extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const ASSUMED = ', so it was taken to be in order';

/** @throws UserError when the object isn't there; KubeError when the cluster doesn't answer */
export async function gather(reader: Reader, namespace: string, target: ExplainTarget): Promise<Gathered> {
  const list = async <T extends KubeObject>({ descriptor }: ExplainTarget['kind']): Promise<readonly Stored<T>[]> =>
    (await reader.client<T>(descriptor).listAll({ namespace })).items;
  const object = await reader.object<ParleyObject>(target.kind.descriptor, { namespace, name: target.name });
  const [labelled, agents, tools, knowledgeBases, subscriptions, agentTests, phoneNumbers] = await Promise.all([
    isOrganization(reader, namespace),
    list<Agent>(agentKind),
    list<Tool>(toolKind),
    list<KnowledgeBase>(knowledgeBaseKind),
    list<WebhookSubscription>(webhookSubscriptionKind),
    list<AgentTest>(agentTestKind),
    object.kind === 'PhoneNumber' ? withSameNumber(reader, object as Stored<PhoneNumber>) : [],
  ]);
  const all = [object, ...agents, ...tools, ...knowledgeBases, ...subscriptions, ...agentTests];
  const tooled = object.kind === 'Agent' ? tools.filter((tool) => attachments(tool).includes(object.metadata.name)) : [];
  const references = [object, ...tooled].flatMap((one) => referencesOf(one as ParleyObject));
  const [secrets, configMaps] = await Promise.all([
    keyed(reader, namespace, 'Secret', references),
    keyed(reader, namespace, 'ConfigMap', references),
  ]);
  const elsewhere = new Set(phoneNumbers.map(({ metadata }) => metadata.namespace ?? ''));
  elsewhere.delete(namespace);
  const others = await Promise.all([...elsewhere].map(async (each) => ((await isOrganization(reader, each)) ? [each] : [])));
  const snapshot = memorySnapshot({
    organizations: [...(labelled || all.some(isServed) ? [namespace] : []), ...others.flat()],
    agents,
    tools,
    knowledgeBases,
    subscriptions,
    agentTests,
    phoneNumbers,
    secrets,
    configMaps,
    toolList: reportedIn(tools),
  });
  return { object, snapshot, agents, tools, knowledgeBases, subscriptions, agentTests };
}

/** Postgres keeps lists of tools, and this command doesn't ask it: the status says whether there is one. */
const reportedIn =
  (tools: readonly Tool[]) =>
  ({ metadata }: Pick<Tool, 'metadata'>): ToolListView => {
    const digest = tools.find((tool) => tool.metadata.uid === metadata.uid)?.status?.mcp?.digest;
    return digest === undefined ? NO_TOOL_LIST : { state: 'known', accepted: [] };
  };

async function isOrganization(reader: Reader, namespace: string): Promise<boolean> {
  // The user is not allowed to look. The common case is a user of one organisation, who works in a namespace that is one.
  return ['organization', 'unknown'].includes(await readNamespace(reader, namespace, ASSUMED));
}

/** Adds the phone numbers that are the same: they are unique in the deployment, and a user of one organisation sees only its own. */
async function withSameNumber(reader: Reader, object: Stored<PhoneNumber>): Promise<readonly Stored<PhoneNumber>[]> {
  const client = reader.client<PhoneNumber>(phoneNumberKind.descriptor);
  const read = () => client.listAll({ fieldSelector: `spec.number=${object.spec.number}` });
  const found = await reader.allowed('the phone numbers of other organisations', read, ASSUMED);
  return found === 'refused' || found === undefined ? [object] : found.items;
}

/** Keeps of Secrets only the names of the keys, and what their values can't be used for. */
async function keyed(
  reader: Reader,
  namespace: string,
  kind: 'Secret' | 'ConfigMap',
  references: readonly Reference[],
): Promise<readonly DataEntry[]> {
  const client = reader.client<Keyed>(kind === 'Secret' ? builtIn.secrets : builtIn.configMaps);
  const wanted = Map.groupBy(
    references.filter((reference) => reference.kind === kind),
    (reference) => reference.name,
  );
  const entries = await Promise.all(
    [...wanted].map(async ([name, wants]): Promise<readonly DataEntry[]> => {
      const found = await reader.allowed(`${kind} ${namespace}/${name}`, () => client.get({ namespace, name }), ASSUMED);
      if (found === undefined) return [];
      if (found === 'refused')
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
