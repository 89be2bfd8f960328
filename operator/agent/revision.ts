/** Compiles an agent and everything it refers to into one immutable document that calls can start from without Kubernetes. */
import type { AgentRevisionConfig, RevisionTool } from '../../crds/agent-revision.ts';
import type { Agent, Tool } from '../../crds/index.ts';
import { configHashOf } from '../../crds/requested-test.ts';
import { agentReferences, toolCredentials } from '../references/references-of.ts';
import { secretVersions } from '../references/secret-versions.ts';
import { promptText, compare, displayNameOf, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { canonicalJson, memoizeCanonicalJson, sha256 } from '../../platform/canonical-json.ts';
import type { RevisionParts } from '../../store/index.ts';
import { isDeleting } from '../status/common.ts';
import { functionNameOf } from '../tool/attachment.ts';
import { chooseTools } from '../references/tool-list-view.ts';

export interface CompiledRevision {
  /** SHA-256 of the canonical JSON of `config`. */
  readonly revision: string;
  /** SHA-256 of the same without `versions`. */
  readonly configHash: string;
  readonly config: AgentRevisionConfig;
  /** Parts of the revision that a rollback remembers. */
  readonly parts: RevisionParts;
}

/** Compiles the revision that the spec asks for, also when references are missing. */
export function compileRevision(agent: Agent, tools: readonly Tool[], snapshot: ClusterSnapshot): CompiledRevision {
  const namespace = agent.metadata.namespace ?? '';
  const { knowledgeBaseRef } = agent.spec;
  const knowledgeBase = knowledgeBaseRef && snapshot.knowledgeBase(namespace, knowledgeBaseRef.name);
  const config: AgentRevisionConfig = {
    format: 1,
    name: agent.metadata.name,
    displayName: displayNameOf(agent),
    agent: revisionAgent(agent),
    systemPrompt: promptOf(agent, snapshot),
    tools: tools.map((tool) => revisionTool(tool, snapshot)),
    knowledgeBase: knowledgeBaseRef?.name ?? null,
    versions: {
      secrets: secretVersions(namespace, [...agentReferences(agent), ...tools.flatMap(toolCredentials)], snapshot),
      knowledgeBaseUid: knowledgeBase && !isDeleting(knowledgeBase) ? (knowledgeBase.metadata.uid ?? null) : null,
    },
  };
  return { revision: sha256(canonicalJson(config)), configHash: configHashOf(config), config, parts: revisionParts(config) };
}

function revisionParts({ agent, systemPrompt, knowledgeBase, tools }: AgentRevisionConfig): RevisionParts {
  return {
    agent: sha256(canonicalJson({ agent, systemPrompt, knowledgeBase })),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, sha256(canonicalJson(tool))])),
  };
}

/** Lists of type map have no order: two owners may have appended in either order. */
const byKey =
  <Key extends string>(key: Key) =>
  <T extends Readonly<Record<Key, string>>>(list: readonly T[]): T[] =>
    list.toSorted((a, b) => compare(a[key], b[key]));

/** Sets have no order either. */
function sortedSets<T extends object>(owner: T, sets: readonly (keyof T)[]): T {
  const present = sets.filter((set) => owner[set] !== undefined);
  return { ...owner, ...Object.fromEntries(present.map((set) => [set, (owner[set] as readonly string[]).toSorted(compare)])) };
}

const byName = byKey('name');
const byWritten = byKey('written');

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
  const { suspend: _suspend, displayName: _displayName, deletionPolicy: _policy, knowledgeBaseRef: _base, ...others } = spec;
  const { release: _release, budget: _budget, llm, ...rest } = others;
  const { systemPrompt: _inline, systemPromptFrom: _from, ...model } = llm;
  return {
    ...sortedSets(rest, ['requiredDynamicData']),
    llm: model,
    interruptions: sortedSets(rest.interruptions, ['acknowledgements', 'stopWords']),
    ...(rest.dynamicData && { dynamicData: byName(rest.dynamicData) }),
    ...(rest.postCallAnalysis && { postCallAnalysis: byName(rest.postCallAnalysis) }),
    ...(rest.speech && {
      speech: { ...rest.speech, ...(rest.speech.replacements && { replacements: byWritten(rest.speech.replacements) }) },
    }),
  };
});

const withoutTools = oncePerSpec((tool: Tool): RevisionTool => {
  const { suspend: _suspend, agentRefs: _agentRefs, mcp, ...spec } = tool.spec;
  const common = { name: tool.metadata.name, functionName: functionNameOf(tool) ?? '' };
  if (mcp === undefined) return { ...common, spec };
  // Fields that only decide about the list are no part of what a call does.
  const { include: _include, exclude: _exclude, prefix: _prefix, updatePolicy: _policy, digest: _digest, ...server } = mcp;
  return { ...common, spec: memoizeCanonicalJson({ ...spec, mcp: server }) };
});

function revisionTool(tool: Tool, snapshot: ClusterSnapshot): RevisionTool {
  const used = tool.spec.mcp && chooseTools(tool.spec.mcp, snapshot.toolList(tool)).used;
  return used === undefined ? withoutTools(tool) : { ...withoutTools(tool), mcp: used };
}

/** Returns the size of a tool in a revision, in characters of canonical JSON. */
export function sizeInRevision(tool: Tool, snapshot: ClusterSnapshot): number {
  return canonicalJson(revisionTool(tool, snapshot)).length;
}

export function functionsInRevision(tool: Tool, snapshot: ClusterSnapshot): number {
  return tool.spec.type !== 'MCP' ? 1 : (revisionTool(tool, snapshot).mcp?.tools.length ?? 0);
}

function promptOf(agent: Agent, snapshot: ClusterSnapshot): string | null {
  const { systemPrompt, systemPromptFrom } = agent.spec.llm;
  if (systemPromptFrom === undefined) return systemPrompt ?? null;
  const namespace = agent.metadata.namespace ?? '';
  if (snapshot.configMap(namespace, systemPromptFrom.configMapKeyRef.name).state !== 'present') return null;
  const found = promptText(snapshot, namespace, systemPromptFrom.configMapKeyRef);
  return found.state === 'text' ? found.text : null;
}
