/** Compiles an agent and everything it refers to into one immutable document that calls can start from without Kubernetes. */
import type { AgentRevisionConfig, RevisionTool } from '../../crds/agent-revision.ts';
import { wellKnown, type Agent, type Tool } from '../../crds/index.ts';
import { configHashOf } from '../../crds/requested-test.ts';
import { agentReferences, toolCredentials, type Reference } from '../references/references-of.ts';
import { promptText, compare, displayNameOf, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { canonicalJson, memoizeCanonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { isDeleting } from '../status/common.ts';
import { functionNameOf, variantOf } from '../tool/attachment.ts';

export interface CompiledRevision {
  /** SHA-256 of the canonical JSON of `config`. */
  readonly revision: string;
  /** The same without `versions`. */
  readonly configHash: string;
  readonly config: AgentRevisionConfig;
}

/** Compiles the revision that the spec asks for, also when references are missing. */
export function compileRevision(agent: Agent, tools: readonly Tool[], snapshot: ClusterSnapshot): CompiledRevision {
  const namespace = agent.metadata.namespace ?? '';
  const { knowledgeBaseRef } = agent.spec;
  const knowledgeBase = knowledgeBaseRef && snapshot.knowledgeBase(namespace, knowledgeBaseRef.name);
  const workspace = agent.metadata.labels?.[wellKnown.workspaceLabel];
  const config: AgentRevisionConfig = {
    format: 1,
    name: agent.metadata.name,
    displayName: displayNameOf(agent),
    agent: revisionAgent(agent),
    systemPrompt: promptOf(agent, snapshot),
    tools: tools.map(revisionTool),
    knowledgeBase: knowledgeBaseRef?.name ?? null,
    versions: {
      secrets: secretVersions(namespace, [...agentReferences(agent), ...tools.flatMap(toolCredentials)], snapshot),
      knowledgeBaseUid: knowledgeBase && !isDeleting(knowledgeBase) ? (knowledgeBase.metadata.uid ?? null) : null,
      ...(workspace !== undefined && { workspace }),
    },
  };
  return { revision: sha256(canonicalJson(config)), configHash: configHashOf(config), config };
}

/** Lists of type map have no order: two owners may have appended in either order. */
function byName<T extends { readonly name: string }>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => compare(a.name, b.name));
}

/** Computes a part that depends on the spec alone once; a spec is never changed in place. */
function oncePerSpec<Owner extends { readonly spec: object }, Part extends object>(make: (owner: Owner) => Part) {
  const made = new WeakMap<object, Part>();
  return (owner: Owner): Part => {
    const known = made.get(owner.spec);
    if (known !== undefined) return known;
    const part = memoizeCanonicalJson(make(owner));
    made.set(owner.spec, part);
    return part;
  };
}

const revisionAgent = oncePerSpec(({ spec }: Pick<Agent, 'spec'>): AgentRevisionConfig['agent'] => {
  const { suspend: _suspend, displayName: _displayName, knowledgeBaseRef: _base, release: _release, llm, ...rest } = spec;
  const { systemPrompt: _inline, systemPromptFrom: _from, ...model } = llm;
  return {
    ...rest,
    llm: { ...model, ...(model.requiredDynamicData && { requiredDynamicData: [...model.requiredDynamicData].sort(compare) }) },
    ...(rest.dynamicData && { dynamicData: byName(rest.dynamicData) }),
    ...(rest.postCallAnalysis && { postCallAnalysis: byName(rest.postCallAnalysis) }),
  };
});

const revisionTool = oncePerSpec((tool: Tool): RevisionTool => {
  const { suspend: _suspend, agentRefs: _agentRefs, ...spec } = tool.spec;
  return { name: tool.metadata.name, type: variantOf(tool), functionName: functionNameOf(tool), spec };
});

/** Size of a tool in a revision, in characters of canonical JSON. */
export function sizeInRevision(tool: Tool): number {
  return canonicalJson(revisionTool(tool)).length;
}

function promptOf(agent: Agent, snapshot: ClusterSnapshot): string | null {
  const { systemPrompt, systemPromptFrom } = agent.spec.llm;
  if (systemPromptFrom === undefined) return systemPrompt ?? null;
  const namespace = agent.metadata.namespace ?? '';
  if (snapshot.configMap(namespace, systemPromptFrom.configMapKeyRef.name).state !== 'present') return null;
  const found = promptText(snapshot, namespace, systemPromptFrom.configMapKeyRef);
  return found.state === 'text' ? found.text : null;
}

function secretVersions(namespace: string, references: readonly Reference[], snapshot: ClusterSnapshot): Record<string, string | null> {
  const names = new Set(references.filter((reference) => reference.kind === 'Secret').map((reference) => reference.name));
  return Object.fromEntries(
    [...names].sort(compare).map((name) => {
      const found = snapshot.secret(namespace, name);
      return [name, found.state === 'present' ? sha256(`${found.uid}/${found.resourceVersion}`) : null];
    }),
  );
}
