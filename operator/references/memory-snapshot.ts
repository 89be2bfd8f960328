/** A snapshot of plain lists: for `parley explain`, which reads one namespace once, and for tests. */
import type { AddressChecks } from '../../calls/address-checks.ts';
import {
  subscriptionNameOf,
  type Agent,
  type AgentTest,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../crds/index.ts';
import { NO_TOOL_LIST } from './tool-list-view.ts';
import {
  displayNameOf,
  TEXT_LIMIT,
  type ConfigText,
  type DataObject,
  type UnusableKeys,
  type ClusterSnapshot,
} from './cluster-snapshot.ts';
import { present } from '../../platform/present.ts';

/** A Secret or ConfigMap by its metadata and keys; `data` only of ConfigMaps. */
export interface DataEntry {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly keys: readonly string[];
  readonly owners?: readonly string[];
  readonly companionOf?: string;
  /** Values behind the keys, as far as they matter. */
  readonly values?: Readonly<Record<string, string>>;
  readonly unusable?: UnusableKeys;
  readonly signingExpiry?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface SnapshotContents {
  readonly organizations: readonly string[];
  readonly agents?: readonly Agent[];
  readonly tools?: readonly Tool[];
  readonly agentTests?: readonly AgentTest[];
  readonly phoneNumbers?: readonly PhoneNumber[];
  readonly knowledgeBases?: readonly KnowledgeBase[];
  readonly subscriptions?: readonly WebhookSubscription[];
  readonly secrets?: readonly DataEntry[];
  readonly configMaps?: readonly DataEntry[];
  /** `Secret/namespace/name` or `ConfigMap/namespace/name` of objects that may not be read. */
  readonly forbidden?: ReadonlySet<string>;
  /** Returns the tools of MCP servers; nothing is known of them where absent. */
  readonly toolList?: ClusterSnapshot['toolList'];
  /** Every address may be called where absent. */
  readonly addresses?: AddressChecks;
}

const ANY_ADDRESS: AddressChecks = { web: () => undefined, sip: () => undefined };

export function memorySnapshot(contents: SnapshotContents): ClusterSnapshot {
  const {
    agents = [],
    tools = [],
    agentTests = [],
    phoneNumbers = [],
    knowledgeBases = [],
    subscriptions = [],
    secrets = [],
    configMaps = [],
    forbidden,
  } = contents;
  const keyed = (kind: string, list: readonly DataEntry[], namespace: string, name: string): DataObject => {
    if (forbidden?.has(`${kind}/${namespace}/${name}`)) return { state: 'forbidden' };
    const entry = list.find((item) => item.namespace === namespace && item.name === name);
    if (entry === undefined) return { state: 'absent' };
    return {
      state: 'present',
      uid: entry.uid,
      resourceVersion: entry.resourceVersion,
      keys: new Set(entry.keys),
      digests: new Map(entry.keys.map((key) => [key, entry.values?.[key] ?? ''])),
      owners: entry.owners ?? [],
      ...present({ companionOf: entry.companionOf, unusable: entry.unusable, signingExpiry: entry.signingExpiry }),
    };
  };
  return {
    isOrganization: (namespace) => contents.organizations.includes(namespace),
    agent: (namespace, name) => named(agents, namespace, name),
    knowledgeBase: (namespace, name) => named(knowledgeBases, namespace, name),
    toolsOf: (namespace, agent) =>
      tools.filter((tool) => tool.metadata.namespace === namespace && tool.spec.agentRefs?.some((ref) => ref.name === agent)),
    testsOf: (namespace, agent) =>
      agentTests.filter((test) => test.metadata.namespace === namespace && test.spec.agentRefs.some((ref) => ref.name === agent)),
    phoneNumbersWith: (number) => phoneNumbers.filter((item) => item.spec.number === number),
    knowledgeBasesNamed: (namespace, name) =>
      knowledgeBases.filter((item) => item.metadata.namespace === namespace && displayNameOf(item) === name),
    subscriptionsNamed: (namespace, name) =>
      subscriptions.filter((item) => item.metadata.namespace === namespace && subscriptionNameOf(item) === name),
    secret: (namespace, name) => keyed('Secret', secrets, namespace, name),
    configMap: (namespace, name) => keyed('ConfigMap', configMaps, namespace, name),
    toolList: contents.toolList ?? (() => NO_TOOL_LIST),
    addresses: contents.addresses ?? ANY_ADDRESS,
    configText: (namespace, name, key) =>
      readConfigText(configMaps.find((item) => item.namespace === namespace && item.name === name)?.data, key),
  };
}

function named<T extends { readonly metadata: { readonly namespace?: string; readonly name: string } }>(
  list: readonly T[],
  namespace: string,
  name: string,
): T | undefined {
  return list.find((item) => item.metadata.namespace === namespace && item.metadata.name === name);
}

/** Returns the text of an existing key. One that is not among `data` is binary, and so is a text with U+0000. */
export function readConfigText(data: Readonly<Record<string, string>> | undefined, key: string): ConfigText {
  const text = data?.[key];
  if (text === undefined || text.includes('\0')) return { state: 'binary' };
  return Buffer.byteLength(text) > TEXT_LIMIT ? { state: 'too-large' } : { state: 'text', text };
}
