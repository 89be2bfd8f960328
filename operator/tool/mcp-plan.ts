/** The part of a Tool's plan that is about an MCP server: what to ask it, which of its lists agents use, and what its status says. Pure. */
import {
  MCP_TOOLS_LIMIT,
  namesShown,
  shownChanges,
  summaryOfChanges,
  toolsWithReservedNames,
  type McpFunction,
  type McpSpec,
  type ServerTool,
} from '../../crds/mcp-tools.ts';
import { wellKnown, type Tool, type ToolStatus } from '../../crds/index.ts';
import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { toolCredentials } from '../references/references-of.ts';
import { secretVersions } from '../references/secret-versions.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { ConditionStage } from '../status/conditions.ts';
import type { Problem } from '../status/reasons.ts';
import { chooseTools, type ChosenTools, type ToolListView } from '../references/tool-list-view.ts';

/** The part of the spec with which a worker asks the server. */
export type ServerToolsRequest = Pick<McpSpec, 'url' | 'headers' | 'oauth' | 'timeout'>;

export type ToolAction =
  /** A worker lists the tools now. `acceptNext`: they are those of another server than before. */
  | { readonly type: 'requestList'; readonly request: ServerToolsRequest; readonly digest: string; readonly acceptNext: boolean }
  /** Agents use this list from now on. */
  | { readonly type: 'acceptList'; readonly tools: readonly ServerTool[] };

export interface McpPlan {
  readonly actions: readonly ToolAction[];
  readonly stages: readonly ConditionStage[];
  readonly status: NonNullable<ToolStatus['mcp']>;
}

/** @param sound its spec is accepted, and its Secrets exist */
export function planMcp(
  tool: Tool,
  mcp: McpSpec,
  { snapshot, sound }: { readonly snapshot: ClusterSnapshot; readonly sound: boolean },
): McpPlan {
  const view = snapshot.toolList(tool);
  const chosen = chooseTools(mcp, view);
  return {
    actions: view.state === 'unavailable' ? [] : [...listRequest(tool, mcp, view, { snapshot, sound }), ...acceptanceOf(chosen)],
    stages: [
      synced(mcp, view, chosen),
      ...(chosen.used === undefined ? [] : [upToDate(tool, view, chosen, toolsWithReservedNames(mcp, chosen.used))]),
    ],
    // While Postgres is away, what was there is still so.
    status: view.state === 'unavailable' ? (tool.status?.mcp ?? {}) : mcpStatus(view, chosen),
  };
}

type Known = Extract<ToolListView, { readonly state: 'known' }>;

/** A rotated Secret and a requested reconcile are reasons to ask again. */
function listRequest(
  tool: Tool,
  mcp: McpSpec,
  view: Known,
  { snapshot, sound }: { readonly snapshot: ClusterSnapshot; readonly sound: boolean },
): readonly ToolAction[] {
  if (!sound) return [];
  const { url, headers, oauth, timeout } = mcp;
  const request: ServerToolsRequest = { url, timeout, ...(headers && { headers }), ...(oauth && { oauth }) };
  const versions = secretVersions(tool.metadata.namespace ?? '', toolCredentials(tool), snapshot);
  const asked = tool.metadata.annotations?.[wellKnown.reconcileRequestedAt] ?? null;
  const digest = sha256(canonicalJson({ request, versions, asked }));
  if (view.request?.digest === digest) return [];
  return [{ type: 'requestList', request, digest, acceptNext: view.request !== undefined && view.request.url !== url }];
}

function acceptanceOf({ accept, unknownDigest }: ChosenTools): readonly ToolAction[] {
  return accept === undefined || unknownDigest ? [] : [{ type: 'acceptList', tools: accept }];
}

function synced(mcp: McpSpec, view: ToolListView, { used, latest, unknownDigest, leftOut, offered }: ChosenTools): ConditionStage {
  const count = used?.tools.length ?? 0;
  const stage = (...problems: readonly Problem[]): ConditionStage => ({
    type: 'Synced',
    good: { reason: 'ToolsListed', message: listedMessage(count, offered.length) },
    problems,
  });
  if (view.state === 'unavailable')
    return stage({ reason: 'StoreUnavailable', message: `the list of tools cannot be read: ${view.why}; the operator retries` });
  if (used === undefined)
    return stage(
      view.failure === undefined
        ? { reason: 'ToolsPending', message: `the tools of ${mcp.url} have not been listed yet; a worker does that` }
        : { reason: 'ToolsNotListed', message: `failed to list the tools of ${mcp.url}: ${view.failure}; a worker retries` },
    );
  if (unknownDigest)
    return stage({
      reason: 'DigestUnknown',
      message: `spec.mcp.digest names no list that is known: agents use ${used.digest}, the server has ${latest?.digest ?? 'not said what it has'}; set digest to one of these, or remove it`,
    });
  if (count === 0)
    return stage({
      reason: 'NoTools',
      message: `${mcp.url} offers no tool that spec.mcp.include and spec.mcp.exclude leave and a model can be given${offered.length === 0 ? '' : `: it has ${namesShown(offered)}${leftOut.unusable.length === 0 ? '' : `; ${unusableMessage(leftOut.unusable)}`}`}. Correct them, or the server`,
    });
  return stage();
}

function listedMessage(used: number, offered: number): string {
  const tools = (count: number): string => (count === 1 ? '1 tool' : `${count} tools`);
  return used === offered ? `the server offers ${tools(used)}` : `agents get ${used} of the server's ${tools(offered)}`;
}

const UNUSABLE_SHOWN = 5;

/** Writes `"a": its name …; "b": …`. */
function unusableMessage(unusable: readonly ServerTool[]): string {
  const shown = unusable.slice(0, UNUSABLE_SHOWN).map(({ name, unusable: why }) => `${JSON.stringify(name)}: ${why}`);
  const more = unusable.length - shown.length;
  return `no model can be given ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

function upToDate(
  tool: Tool,
  view: ToolListView,
  { latest, changes, missing, leftOut, offered }: ChosenTools,
  renamed: readonly McpFunction[],
): ConditionStage {
  const { namespace = '', name } = tool.metadata;
  const problems: Problem[] = [];
  if (changes.length > 0)
    problems.push({
      reason: 'ToolsChanged',
      message: `the server's tools have changed: ${summaryOfChanges(changes)}; agents use the former ones. To accept: kubectl patch tool.parley.dev ${name} -n ${namespace} --type merge -p '{"spec":{"mcp":{"digest":"${latest?.digest ?? ''}"}}}'`,
    });
  if (missing.length > 0)
    problems.push({
      reason: 'ToolsMissing',
      message: `the server has no tool ${missing.map((one) => JSON.stringify(one)).join(', ')}: correct spec.mcp.include; it has ${namesShown(offered)}`,
    });
  if (leftOut.tooMany.length > 0)
    problems.push({
      reason: 'ToolsTooMany',
      message: `agents get the first ${MCP_TOOLS_LIMIT} tools by name, and not ${namesShown(leftOut.tooMany)}: name those that are wanted in spec.mcp.include`,
    });
  if (leftOut.unusable.length > 0)
    problems.push({
      reason: 'ToolsUnusable',
      message: `${unusableMessage(leftOut.unusable)}. Agents get the others; correct the server, or name the tools in spec.mcp.exclude`,
    });
  if (view.state === 'known' && view.failure !== undefined)
    problems.push({
      reason: 'ToolsNotChecked',
      message: `failed to list the tools again: ${view.failure}; agents use the list that is known`,
    });
  if (renamed.length > 0)
    problems.push({
      reason: 'FunctionNamesReserved',
      message: `the server names tools as Parley names its own functions: the model calls them ${renamed.map(({ functionName }) => functionName).join(', ')}; set spec.mcp.prefix, or leave them out with spec.mcp.exclude`,
    });
  return { type: 'UpToDate', good: { reason: 'ToolsUpToDate', message: 'agents use the tools that the server has' }, problems };
}

function mcpStatus({ latest: stored }: Known, { used, latest, changes }: ChosenTools): NonNullable<ToolStatus['mcp']> {
  if (used === undefined) return {};
  return {
    digest: used.digest,
    ...(latest !== undefined && { latestDigest: latest.digest }),
    ...(stored !== undefined && { fetchedAt: timestamp(stored.at) }),
    functions: used.tools.map(({ functionName }) => functionName).toSorted(),
    ...(changes.length > 0 && { changes: shownChanges(changes) }),
  };
}
