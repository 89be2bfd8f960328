/** Decides which tools an agent offers: by one rule for the agent that compiles them and for the tool that may lose its name. */
import { builtinFunctionNames, type Tool, type ToolStatus } from '../../crds/index.ts';
import { compare, ownerAmong, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { isDeleting } from '../status/common.ts';
import type { Problem } from '../status/reasons.ts';

/** Returns the name by which the model calls the tool; undefined for an MCP server, whose tools have names of their own. */
export function functionNameOf({ spec }: Pick<Tool, 'spec'>): string | undefined {
  if (spec.type === 'MCP') return undefined;
  return spec.type === 'Custom' ? spec.custom?.function.name : builtinFunctionNames[spec.type];
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

export type AgentStatus = NonNullable<ToolStatus['agents']>[number];

/** Returns for each agent that the tool names whether it offers the tool, and why not. */
export function agentStatuses(tool: Tool, snapshot: ClusterSnapshot): readonly AgentStatus[] {
  const namespace = tool.metadata.namespace ?? '';
  return attachments(tool).map((name): AgentStatus => {
    const owner = ownerOfClaim(tool, name, snapshot);
    if (owner !== undefined && owner.metadata.uid !== tool.metadata.uid)
      return {
        name,
        attached: false,
        reason: 'FunctionNameConflict',
        message: `already has a function "${functionNameOf(tool) ?? ''}" from the older Tool ${namespace}/${owner.metadata.name}`,
      };
    const agent = snapshot.agent(namespace, name);
    if (agent !== undefined && !isDeleting(agent)) return { name, attached: true };
    return {
      name,
      attached: false,
      reason: 'AgentNotFound',
      message: agent === undefined ? 'does not exist' : 'is being deleted',
    };
  });
}

/** Returns the tool of {@link offeredTools} that has this one's claim; it doesn't compute the others, for a tool names many agents that have many tools. */
function ownerOfClaim(tool: Tool, agent: string, snapshot: ClusterSnapshot): Tool | undefined {
  const claim = claimOf(tool);
  return ownerAmong(snapshot.toolsOf(tool.metadata.namespace ?? '', agent).filter((rival) => claimOf(rival) === claim));
}

/** Returns the problem of a tool that loses its function name to older ones: its other agents offer it all the same. */
export function functionNameConflict({ spec, metadata }: Tool, agents: readonly AgentStatus[]): readonly Problem[] {
  const conflicts = agents.filter(({ reason }) => reason === 'FunctionNameConflict');
  const [first] = conflicts;
  if (first === undefined) return [];
  const attached = agents.filter((agent) => agent.attached).length;
  return [
    {
      reason: 'FunctionNameConflict',
      message: [
        `offered by ${attached} of ${agents.length} agents`,
        conflicts.length === 1
          ? `Agent ${metadata.namespace}/${first.name} ${first.message}`
          : `${conflicts.length} agents already have its function from older Tools (status.agents)`,
        spec.type === 'Custom'
          ? 'rename the function of this one (spec.custom.function.name) or detach one of the two'
          : 'detach one of the two (spec.agentRefs)',
      ].join('; '),
    },
  ];
}

/** Agents that a tool names, each once, sorted. */
export function attachments(tool: Pick<Tool, 'spec'>): readonly string[] {
  return [...new Set((tool.spec.agentRefs ?? []).map((ref) => ref.name))].sort(compare);
}
