/** The tools of an MCP server as Postgres holds them, and the choice of those that an agent gets. Pure. */
import {
  changesBetween,
  missingTools,
  toolsLeftOut,
  selectTools,
  type McpSpec,
  type McpTools,
  type ServerTool,
} from '../../crds/mcp-tools.ts';

export type ToolListView =
  | {
      readonly state: 'known';
      /** The request that the server was last asked with; absent where it never was. */
      readonly request?: { readonly url: string; readonly digest: string };
      /** The tools that the server listed last, and since when it does. */
      readonly latest?: { readonly tools: readonly ServerTool[]; readonly at: Date };
      /** The tools that agents have used so far. */
      readonly accepted?: readonly ServerTool[];
      /** Why the last attempt to list the tools failed. */
      readonly failure?: string;
    }
  | { readonly state: 'unavailable'; readonly why: string };

export const NO_TOOL_LIST: ToolListView = { state: 'known' };

export interface ChosenTools {
  /** The tools that agents use; undefined until the server was asked. */
  readonly used?: McpTools;
  readonly latest?: McpTools;
  /** The list in use, where it is to become the accepted one. */
  readonly accept?: readonly ServerTool[];
  /** `spec.mcp.digest` names neither list. */
  readonly unknownDigest: boolean;
  readonly changes: ReturnType<typeof changesBetween>;
  /** Names in `spec.mcp.include` that the server doesn't have. */
  readonly missing: readonly string[];
  /** Tools that the server has and agents were to get, but don't. */
  readonly leftOut: ReturnType<typeof toolsLeftOut>;
  /** Names of all that the server has, sorted. */
  readonly offered: readonly string[];
}

const NOTHING = { unknownDigest: false, changes: [], missing: [], leftOut: { unusable: [], tooMany: [] }, offered: [] } as const;

export function chooseTools(mcp: McpSpec, view: ToolListView): ChosenTools {
  if (view.state === 'unavailable') return NOTHING;
  const { accepted, latest } = view;
  const lists = [accepted, latest?.tools].filter((list) => list !== undefined);
  const pinned = mcp.digest === undefined ? undefined : lists.find((list) => selectTools(mcp, list).digest === mcp.digest);
  const list = pinned ?? (mcp.updatePolicy === 'Follow' ? (latest?.tools ?? accepted) : (accepted ?? latest?.tools));
  if (list === undefined) return NOTHING;
  const used = selectTools(mcp, list);
  const now = latest && selectTools(mcp, latest.tools);
  return {
    used,
    ...(now !== undefined && { latest: now }),
    ...(list !== accepted && { accept: list }),
    unknownDigest: mcp.digest !== undefined && pinned === undefined,
    changes: now === undefined ? [] : changesBetween(used, now),
    missing: latest === undefined ? [] : missingTools(mcp, latest.tools),
    leftOut: toolsLeftOut(mcp, list),
    offered: (latest?.tools ?? list).map(({ name }) => name).toSorted(),
  };
}
