/** Finds the missing references of an agent, and how it serves without the optional ones. Pure. */
import type { Agent, Tool } from '../../crds/index.ts';
import { agentReferences, type Reference } from '../references/references-of.ts';
import { unresolved } from '../references/unresolved.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { Problem } from '../status/reasons.ts';
import { usability } from '../tool/plan.ts';

export interface Degradation {
  /** Problems without whose solution no call can start: a provider's key, the system prompt. */
  readonly essential: readonly Problem[];
  /** Problems with which calls start all the same: the knowledge base, a tool, an agent to hand over to, the header of a lookup, the key of a fallback. */
  readonly optional: readonly Problem[];
  /** The agent and its tools without what is missing. Lookups and fallbacks stay: one that fails keeps no call from starting. */
  readonly rest: { readonly agent: Agent; readonly tools: readonly Tool[] };
}

export function degradationOf(agent: Agent, tools: readonly Tool[], snapshot: ClusterSnapshot): Degradation {
  const { namespace = '' } = agent.metadata;
  const references = agentReferences(agent);
  const missing = (some: readonly Reference[]): readonly Problem[] => unresolved(namespace, some, snapshot);
  const unusable = tools.map((tool) => ({ tool, problems: usability(tool, snapshot) })).filter(({ problems }) => problems.length > 0);
  const isLost = (reference: Reference): boolean => missing([reference]).length > 0;
  const gone = references.filter(({ kind }) => kind === 'KnowledgeBase' || kind === 'Agent').filter(isLost);
  return {
    essential: missing(references.filter((reference) => !isOptional(reference))),
    optional: [
      ...missing(references.filter(isOptional)),
      ...unusable.flatMap(({ tool, problems }) =>
        problems.map((problem): Problem => ({
          reason: 'ToolNotUsable',
          message: `Tool ${namespace}/${tool.metadata.name} is not usable: ${problem.message}`,
        })),
      ),
    ],
    rest: {
      agent: gone.length === 0 ? agent : { ...agent, spec: specWithout(agent.spec, gone) },
      tools: tools.filter((tool) => !unusable.some((lost) => lost.tool === tool)),
    },
  };
}

function specWithout({ knowledgeBaseRef, handoffs, ...spec }: Agent['spec'], lost: readonly Reference[]): Agent['spec'] {
  const isLost = (kind: Reference['kind'], { name }: { readonly name: string }): boolean =>
    lost.some((reference) => reference.kind === kind && reference.name === name);
  return {
    ...spec,
    ...(knowledgeBaseRef && !isLost('KnowledgeBase', knowledgeBaseRef) && { knowledgeBaseRef }),
    ...(handoffs && { handoffs: handoffs.filter(({ agentRef }) => !isLost('Agent', agentRef)) }),
  };
}

function isOptional({ kind, field }: Reference): boolean {
  return kind === 'KnowledgeBase' || kind === 'Agent' || field.startsWith('spec.dynamicData') || field.includes('.fallbacks[');
}
