/** Decides which tools an agent offers: by one rule for the agent that compiles them and for the tool that may lose its name. */
import { builtinFunctionNames, toolVariants, type Tool, type ToolVariant } from '../../crds/index.ts';
import { compare, ownerAmong, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { isDeleting } from '../status/common.ts';
import type { Problem } from '../status/reasons.ts';

/** Returns the variant that is set; the CRD requires exactly one. */
export function variantOf(tool: Pick<Tool, 'spec'>): ToolVariant {
  return toolVariants.find((variant) => tool.spec[variant] !== undefined) ?? 'custom';
}

/** Returns the name by which the model calls the tool; undefined for an MCP server, whose tools have names of their own. */
export function functionNameOf(tool: Pick<Tool, 'spec'>): string | undefined {
  const variant = variantOf(tool);
  if (variant === 'mcp') return undefined;
  return variant === 'custom' ? (tool.spec.custom?.function.name ?? '') : builtinFunctionNames[variant];
}

/** Returns what only one tool of an agent can have: its function name, or for an MCP server, the name of the Tool. */
const claimOf = (tool: Tool): string => functionNameOf(tool) ?? `mcp/${tool.metadata.name}`;

/**
 * Returns the tools that the agent offers, by function name. Of several with one function name the oldest stays; a younger one
 * is left out here, and only here: its other agents keep it.
 */
export function offeredTools(namespace: string, agent: string, snapshot: ClusterSnapshot): readonly Tool[] {
  const present = snapshot.toolsOf(namespace, agent).filter((tool) => !isDeleting(tool));
  const rivals = Map.groupBy(present, claimOf);
  return [...rivals.entries()].sort(([a], [b]) => compare(a, b)).flatMap(([, tools]) => ownerAmong(tools) ?? []);
}

/** Whether the tool is among {@link offeredTools}, without computing the others: a tool names many agents, and an agent has many tools. */
export function isOffered(tool: Tool, agent: string, snapshot: ClusterSnapshot): boolean {
  const claim = claimOf(tool);
  const rivals = snapshot.toolsOf(tool.metadata.namespace ?? '', agent).filter((rival) => claimOf(rival) === claim && !isDeleting(rival));
  return ownerAmong(rivals)?.metadata.uid === tool.metadata.uid;
}

/** Returns the conflicts in which a tool loses its function name to an older one. */
export function functionNameConflicts(tool: Tool, snapshot: ClusterSnapshot): readonly Problem[] {
  const namespace = tool.metadata.namespace ?? '';
  const functionName = functionNameOf(tool);
  if (functionName === undefined) return [];
  return attachments(tool).flatMap((agent): readonly Problem[] => {
    const owner = ownerAmong(snapshot.toolsOf(namespace, agent).filter((rival) => functionNameOf(rival) === functionName));
    if (owner === undefined || owner.metadata.uid === tool.metadata.uid) return [];
    return [
      {
        reason: 'FunctionNameConflict',
        message: `Agent ${namespace}/${agent} already has a function "${functionName}" from the older Tool ${namespace}/${owner.metadata.name}; ${
          variantOf(tool) === 'custom'
            ? 'rename this one (spec.custom.function.name) or detach one of the two'
            : 'detach one of the two (spec.agentRefs)'
        }`,
      },
    ];
  });
}

/** Agents that a tool names, each once, sorted. */
export function attachments(tool: Pick<Tool, 'spec'>): readonly string[] {
  return [...new Set((tool.spec.agentRefs ?? []).map((ref) => ref.name))].sort(compare);
}
