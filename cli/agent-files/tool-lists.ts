/** Returns the tools of MCP servers for conversations on this machine: asked for now, as a worker does in a cluster, or recorded. */
import type { CassetteMode } from '../../agent-tests/cassettes/recorder.ts';
import type { Tool } from '../../crds/index.ts';
import type { ServerTool } from '../../crds/mcp-tools.ts';
import { awakeClock } from '../../platform/clock.ts';
import { createEgress } from '../../platform/egress/egress.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import { listMcpTools } from '../../calls/mcp-client/list-mcp-tools.ts';
import { OAuthTokens } from '../../calls/mcp-client/oauth-tokens.ts';
import type { ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { keepList, keptListFile, readKeptList } from './kept-tool-lists.ts';
import { NO_TOOL_LIST, type ToolListView } from '../../operator/references/tool-list-view.ts';

/** Views by `metadata.uid` of the Tool. A server that can't be asked has a view with `failure`. */
export type ToolListViews = ReadonlyMap<string, ToolListView>;

/** Decides whether servers are asked, as models are in that mode. */
export interface Kept {
  readonly mode: CassetteMode | 'live';
  readonly fileOf: (tool: Tool) => string;
}

export async function listToolsOf(
  tools: readonly Tool[],
  keys: Pick<ProviderKeyReader, 'read'>,
  { mode, fileOf }: Kept = { mode: 'live', fileOf: () => '' },
): Promise<ToolListViews> {
  const servers = tools.flatMap((tool) => (tool.spec.mcp === undefined ? [] : [{ tool, server: tool.spec.mcp }]));
  if (servers.length === 0) return new Map();
  // These servers may be on the machine of the person who runs this, as all that the files name.
  const egress = createEgress({ allowCidrs: ['0.0.0.0/0', '::/0'], allowedPorts: '1-65535', clock: awakeClock });
  const tokens = new OAuthTokens({ clock: awakeClock });
  const { signal } = new AbortController();
  const toolsOf = async (tool: Tool, server: NonNullable<Tool['spec']['mcp']>): Promise<readonly ServerTool[]> => {
    const { namespace: org = '', name } = tool.metadata;
    const file = keptListFile(fileOf(tool), name);
    const kept = mode === 'replay' || mode === 'auto' ? await readKeptList(file, server.url) : undefined;
    if (kept !== undefined) return kept;
    if (mode === 'replay') throw new Error(`there is no recording ${file}: run the tests with --record`);
    const listed = await listMcpTools({ org, server, egress: egress.for(org), keys, tokens, signal });
    if (mode === 'record') await keepList(file, server.url, listed);
    return listed;
  };
  try {
    return new Map(
      await Promise.all(
        servers.map(async ({ tool, server }): Promise<readonly [string, ToolListView]> => {
          const view = await toolsOf(tool, server).then(
            (listed): ToolListView => ({ state: 'known', latest: { tools: listed, at: new Date(awakeClock.now()) } }),
            (error: unknown): ToolListView => ({ state: 'known', failure: errorMessageOf(error) }),
          );
          return [tool.metadata.uid ?? '', view];
        }),
      ),
    );
  } finally {
    egress.close();
  }
}

export const viewIn =
  (views: ToolListViews) =>
  ({ metadata }: Pick<Tool, 'metadata'>): ToolListView =>
    views.get(metadata.uid ?? '') ?? NO_TOOL_LIST;
