import { toolAddressProblems } from '../../calls/address-problems.ts';
import type { Tool, ToolStatus } from '../../crds/index.ts';
import { toolProblems } from '../../crds/limits.ts';
import { toolRemarks } from '../../crds/tool-consistency.ts';
import { toolCredentials, toolReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/unresolved.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { Plan } from '../runtime/reconciler.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import type { Problem } from '../status/reasons.ts';
import { checkedOnce, forbiddenAddresses, remarksOf } from '../status/spec-problems.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { planMcp, type ToolAction } from './mcp-plan.ts';
import { chooseTools } from '../references/tool-list-view.ts';
import { agentStatuses, functionNameConflict, functionNameOf } from './attachment.ts';

/**
 * Only an MCP server has something outside the cluster, hence `Synced`: its list of tools. Its agents check the tool themselves (see
 * {@link usability}) and never read its status: what they serve does not depend on the order of reconciles.
 *
 * @param now - milliseconds since the epoch
 */
export function planTool(tool: Tool, snapshot: ClusterSnapshot, now: number): Plan<ToolAction, ToolStatus> {
  if (isDeleting(tool)) return { actions: [] };
  if (isSuspended(tool)) return { actions: [], status: suspendedStatus(tool, now) };
  const namespace = tool.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0) return { actions: [], status: commonFields(tool, now, [accepted(foreign)]) };

  const agents = agentStatuses(tool, snapshot);
  const attachedAgents = agents.filter(({ attached }) => attached).length;
  // Agents offer a tool with a forbidden address all the same: it is refused during the call, and the model learns why.
  const acceptance = [
    ...checkToolSpec(tool.spec),
    ...forbiddenAddresses(toolAddressProblems(tool.spec, snapshot.addresses)),
    ...functionNameConflict(tool, agents),
  ];
  const credentials = unresolved(namespace, toolCredentials(tool), snapshot);
  const sound = acceptance.length === 0 && credentials.length === 0;
  const mcp = tool.spec.mcp && planMcp(tool, tool.spec.mcp, { snapshot, sound });
  const stages = [
    accepted(acceptance, remarksOf(toolRemarks(tool.spec))),
    resolvedRefs(unresolved(namespace, toolReferences(tool), snapshot)),
    ...(mcp?.stages ?? []),
  ];
  const functionName = functionNameOf(tool);
  const message =
    attachedAgents === 0
      ? 'usable; no agent is named in spec.agentRefs yet'
      : `offered by ${attachedAgents === 1 ? '1 agent' : `${attachedAgents} agents`}`;
  return {
    actions: mcp?.actions ?? [],
    status: {
      ...commonFields(tool, now, stages, { message }),
      ...(functionName !== undefined && { functionName }),
      attachedAgents,
      agents: [...agents],
      ...(mcp !== undefined && { mcp: mcp.status }),
    },
  };
}

/** Checking a JSON Schema takes milliseconds, and each agent checks each of its tools. */
export const checkToolSpec = checkedOnce(toolProblems);

/** Returns what keeps a tool from being part of an agent; the other agents that it names don't matter. */
export function usability(tool: Tool, snapshot: ClusterSnapshot): readonly Problem[] {
  return [
    ...checkToolSpec(tool.spec),
    ...unresolved(tool.metadata.namespace ?? '', toolCredentials(tool), snapshot),
    ...withoutList(tool, snapshot),
  ];
}

function withoutList(tool: Tool, snapshot: ClusterSnapshot): readonly Problem[] {
  if (tool.spec.mcp === undefined) return [];
  const view = snapshot.toolList(tool);
  if (chooseTools(tool.spec.mcp, view).used !== undefined) return [];
  const failure =
    view.state === 'known' && view.failure !== undefined
      ? `failed to list its tools: ${view.failure}`
      : 'its tools have not been listed yet';
  return [{ reason: 'ToolsPending', message: failure }];
}
