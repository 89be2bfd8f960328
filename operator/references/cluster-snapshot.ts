/** A consistent, synchronous view of everything around one object, which a plan reads. */
import type { AddressChecks } from '../../calls/address-checks.ts';
import type { Agent, AgentTest, KnowledgeBase, PhoneNumber, Tool, WebhookSubscription } from '../../crds/index.ts';
import type { ToolListView } from './tool-list-view.ts';
import { isDeleting } from '../status/common.ts';

export interface UnusableKeys {
  /** Keys with the name of a signing key, but no valid one. */
  readonly signing: ReadonlySet<string>;
  /** Keys whose value can't be that of a header. */
  readonly header: ReadonlySet<string>;
}

/** A Secret or ConfigMap without its values. */
export type DataObject =
  | { readonly state: 'absent' }
  | {
      readonly state: 'present';
      readonly uid: string;
      readonly resourceVersion: string;
      readonly keys: ReadonlySet<string>;
      /** Digests of the values of a Secret, by key: the same value has the same digest, whatever else is written to the object. */
      readonly digests?: ReadonlyMap<string, string>;
      /** Uids of its owners. */
      readonly owners: readonly string[];
      /** Kind, in lower case, of the object that Parley keeps this one for. */
      readonly companionOf?: string;
      /** Keys of a Secret whose values cannot be used; checked when they were read. */
      readonly unusable?: UnusableKeys;
      /** The annotation with the expiry of previous signing keys, unparsed. */
      readonly signingExpiry?: string;
    }
  | { readonly state: 'forbidden' };

export type ConfigText =
  | { readonly state: 'text'; readonly text: string }
  | { readonly state: 'absent' }
  | { readonly state: 'too-large' }
  | { readonly state: 'binary' };

export interface ObjectLookups {
  /** Whether the namespace carries the label of an organisation. */
  isOrganization(namespace: string): boolean;
  agent(namespace: string, name: string): Agent | undefined;
  knowledgeBase(namespace: string, name: string): KnowledgeBase | undefined;
  /** Tools whose `agentRefs` name the agent, in any order. */
  toolsOf(namespace: string, agent: string): readonly Tool[];
  /** AgentTests whose `agentRefs` name the agent, in any order. */
  testsOf(namespace: string, agent: string): readonly AgentTest[];
  /** Finds the PhoneNumbers with this number in the whole deployment. */
  phoneNumbersWith(number: string): readonly PhoneNumber[];
  knowledgeBasesNamed(namespace: string, displayName: string): readonly KnowledgeBase[];
  subscriptionsNamed(namespace: string, displayName: string): readonly WebhookSubscription[];
}

export interface ClusterSnapshot extends ObjectLookups {
  secret(namespace: string, name: string): DataObject;
  configMap(namespace: string, name: string): DataObject;
  /** Returns the text behind a key; only of a ConfigMap that is present. */
  configText(namespace: string, name: string, key: string): ConfigText;
  /** Returns what is known of the tools of an MCP server. */
  toolList(tool: Pick<Tool, 'metadata'>): ToolListView;
  readonly addresses: AddressChecks;
}

/** Longest text that is read from a ConfigMap, in bytes of UTF-8: as much as one can hold. */
export const TEXT_LIMIT = 1024 * 1024;

/** Longest system prompt, in bytes of UTF-8. */
const PROMPT_LIMIT = 128 * 1024;

/** Reads the text behind a key as an agent's system prompt. */
export function promptText(snapshot: ClusterSnapshot, namespace: string, ref: { readonly name: string; readonly key: string }): ConfigText {
  const found = snapshot.configText(namespace, ref.name, ref.key);
  return found.state === 'text' && Buffer.byteLength(found.text) > PROMPT_LIMIT ? { state: 'too-large' } : found;
}

/** Returns the name people see: unique within an organisation for some kinds. */
export function displayNameOf(object: {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly displayName?: string | undefined };
}): string {
  return object.spec.displayName ?? object.metadata.name;
}

interface Aged {
  readonly metadata: { readonly uid?: string; readonly creationTimestamp?: string };
}

/** Sorts the oldest first; among objects of one second the uid decides, so that every observer agrees whatever the order of arrival. */
function byAge(a: Aged, b: Aged): number {
  return (
    compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') || compare(a.metadata.uid ?? '', b.metadata.uid ?? '')
  );
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the owner of what only one object may have: the oldest that isn't being deleted. */
export function ownerAmong<T extends Aged & Parameters<typeof isDeleting>[0]>(rivals: readonly T[]): T | undefined {
  return rivals.filter((rival) => !isDeleting(rival)).sort(byAge)[0];
}
