/** Measures what a tool of an MCP server costs a call, next to the same tool as an HTTP API. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { selectTools } from '../../../crds/mcp-tools.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openEgress } from '../../support/open-egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import { connectMcp } from '../../../calls/mcp-client/connect.ts';
import { OAuthTokens } from '../../../calls/mcp-client/oauth-tokens.ts';
import { createCustomTool } from '../../../voice/tools/custom/custom-tool.ts';
import { createMcpTools } from '../../../voice/tools/mcp/create-mcp-tools.ts';
import type { ToolDefinition } from '../../../voice/tools/tool-result.ts';
import { SERVED_VERSIONS } from '../../support/mcp-server.ts';
import { benchmark, type PartResult } from '../harness/suite.ts';
import { summarize } from '../harness/stats.ts';
import { figure, type Table } from '../harness/table.ts';

interface Contender {
  readonly name: string;
  readonly tool: ToolDefinition;
}

const never = new AbortController().signal;

export const run = benchmark({
  name: 'mcp',
  description: "an agent's tool as an HTTP API and at an MCP server, over both versions of the protocol",
  parts: { calls: ({ scale }) => measure(scale.calls) },
  full: { calls: 300 },
  quick: { calls: 20 },
  numbers: { calls: ['calls of each (300)', (calls) => ({ calls })] },
});

async function measure(calls: number): Promise<PartResult> {
  const server = fork(fileURLToPath(new URL('server.ts', import.meta.url)), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  const over = new AbortController();
  try {
    const [{ api, mcp }] = (await once(server, 'message')) as [{ readonly api: number; readonly mcp: readonly string[] }];
    const readSecret = () => Promise.reject(new Error('no secret'));
    const mcpTool = async (url: string, warm: boolean, ended: AbortSignal): Promise<ToolDefinition> => {
      const connection = await connectMcp({ url, egress, headers: async () => ({}), timeoutMs: 5_000, signal: never });
      const list = await connection.listTools({ timeoutMs: 5_000, signal: never });
      await connection.close();
      const [tool] = createMcpTools({
        org: 'bench',
        mcp: { url, timeout: '20s' },
        pinned: selectTools({ include: ['structured'] }, list),
        messages: {},
        data: {},
        egress,
        tokens: new OAuthTokens({ clock: systemClock }),
        readSecret,
        logger: createLogger({ role: 'bench', level: 'silent' }),
        over: ended,
        stop: ended,
        warm,
      });
      if (tool === undefined) throw new Error(`${url} has no tool "structured"`);
      return tool;
    };
    const custom = createCustomTool({
      custom: { function: { name: 'state' }, http: { url: `http://127.0.0.1:${api}/state`, method: 'POST', timeout: '20s' } },
      messages: {},
      data: {},
      egress,
      readSecret,
    });
    const contenders: readonly Contender[] = [
      { name: 'HTTP API', tool: custom },
      ...(await Promise.all(
        mcp.map(async (url, index) => ({ name: `MCP ${SERVED_VERSIONS[index]}`, tool: await mcpTool(url, true, over.signal) })),
      )),
    ];
    const times = new Map(contenders.map(({ name }) => [name, [] as number[]]));
    for (let round = -20; round < calls; round += 1) {
      for (const { name, tool } of contenders) {
        const ms = await timed(tool);
        if (round >= 0) times.get(name)?.push(ms);
      }
    }
    const first = new Map<string, { cold: number; warm: number }>();
    for (const [index, url] of mcp.entries()) {
      const medians = await Promise.all([false, true].map((warm) => firstCalls(() => mcpTool(url, warm, over.signal), warm)));
      first.set(`MCP ${SERVED_VERSIONS[index]}`, { cold: medians[0] ?? 0, warm: medians[1] ?? 0 });
    }
    const results = contenders.map(({ name }) => {
      const { p50, p99 } = summarize(times.get(name) ?? []);
      const begun = first.get(name);
      return { name, p50Ms: p50, p99Ms: p99, cold: begun?.cold, warm: begun?.warm };
    });
    return { figures: { tools: results }, tables: [tableOf(results)] };
  } finally {
    over.abort(new Error('the benchmark is over'));
    egress.close();
    server.disconnect();
  }
}

async function timed(tool: ToolDefinition): Promise<number> {
  const begin = performance.now();
  const { succeeded, detail } = await tool.run({}, never);
  if (!succeeded) throw new Error(`the tool failed: ${detail}`);
  return performance.now() - begin;
}

const FIRST_CALLS = 15;
/** Time before the first call of a tool: it comes some seconds into a call at the earliest. */
const WARM_UP_MS = 500;

/** Returns the median time of the first call of a session. */
async function firstCalls(open: () => Promise<ToolDefinition>, warm: boolean): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < FIRST_CALLS; round += 1) {
    const tool = await open();
    if (warm) await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    times.push(await timed(tool));
  }
  return summarize(times).p50;
}

function tableOf(
  results: readonly {
    readonly name: string;
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly cold?: number | undefined;
    readonly warm?: number | undefined;
  }[],
): Table {
  const base = results[0]?.p50Ms ?? 0;
  const ms = (value: number | undefined): string => (value === undefined ? '–' : figure(value));
  return {
    title: 'A call of a tool, in milliseconds',
    columns: ['tool', 'p50', 'p99', 'p50 more than the API', 'first call, connected before', 'first call, connecting'],
    rows: results.map(({ name, p50Ms, p99Ms, warm, cold }) => [name, ms(p50Ms), ms(p99Ms), ms(p50Ms - base), ms(warm), ms(cold)]),
  };
}
