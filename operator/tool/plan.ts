import { isSip } from '../../voice/calls/sip/termination.ts';
import type { Tool, ToolSpec, ToolStatus } from '../../crds/index.ts';
import { toolProblems } from '../../crds/limits.ts';
import { toolCredentials, toolReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/unresolved.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { Plan } from '../runtime/reconciler.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import type { Problem } from '../status/reasons.ts';
import { specProblems } from '../status/spec-problems.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { attachments, functionNameConflicts, functionNameOf, isOffered, variantOf } from './attachment.ts';

/**
 * A Tool has nothing outside the cluster, hence no `Synced`. Its agents check the tool themselves (see
 * {@link usability}) and never read its status: what they serve does not depend on the order of reconciles.
 *
 * @param now - milliseconds since the epoch
 */
export function planTool(tool: Tool, snapshot: ClusterSnapshot, now: number): Plan<never, ToolStatus> {
  if (isDeleting(tool)) return { actions: [] };
  if (isSuspended(tool)) return { actions: [], status: suspendedStatus(tool, now) };
  const namespace = tool.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0) return { actions: [], status: commonFields(tool, now, [accepted(foreign)]) };

  const agents = attachments(tool).filter((agent) => {
    const found = snapshot.agent(namespace, agent);
    return found !== undefined && !isDeleting(found) && isOffered(tool, agent, snapshot);
  });
  const stages = [
    accepted([...checkToolSpec(tool.spec), ...forbiddenTransfer(tool, snapshot), ...functionNameConflicts(tool, snapshot)]),
    resolvedRefs(unresolved(namespace, toolReferences(tool), snapshot)),
  ];
  const message =
    agents.length === 0
      ? 'usable; no agent is named in spec.agentRefs yet'
      : `offered by ${agents.length === 1 ? '1 agent' : `${agents.length} agents`}`;
  return {
    actions: [],
    status: {
      ...commonFields(tool, now, stages, { message }),
      type: variantOf(tool),
      functionName: functionNameOf(tool),
      attachedTo: agents,
    },
  };
}

/** Checking a JSON Schema takes milliseconds, and each agent checks each of its tools. A spec is never changed in place. */
const checked = new WeakMap<ToolSpec, readonly Problem[]>();

export function checkToolSpec(spec: ToolSpec): readonly Problem[] {
  let problems = checked.get(spec);
  if (problems === undefined) {
    problems = specProblems(toolProblems(spec));
    checked.set(spec, problems);
  }
  return problems;
}

/** Agents offer the tool all the same: the transfer is refused during the call, and the model learns why. */
function forbiddenTransfer({ spec }: Tool, { addresses }: ClusterSnapshot): readonly Problem[] {
  const to = spec.transferCall?.to ?? '';
  const message = isSip(to) ? addresses.sip(to) : undefined;
  return message === undefined ? [] : [{ reason: 'AddressForbidden', message: `spec.transferCall.to: ${message}` }];
}

/** What keeps a tool from being part of an agent; the other agents that it names don't matter. */
export function usability(tool: Tool, snapshot: ClusterSnapshot): readonly Problem[] {
  return [...checkToolSpec(tool.spec), ...unresolved(tool.metadata.namespace ?? '', toolCredentials(tool), snapshot)];
}
