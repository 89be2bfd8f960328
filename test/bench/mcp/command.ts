import type { Command } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';

const parts = ['tokens', 'calls'] as const;

interface Flags {
  readonly only: readonly (typeof parts)[number][];
  readonly calls: number;
  readonly out?: string;
}

export function registerMcp(program: Command): void {
  program
    .command('mcp')
    .description(
      "tokens of the tools of /mcp, of all routes and of those that are tools, with schemas in full and shortened (tokens), and an agent's tool as an HTTP API and at an MCP server, over both versions of the protocol (calls)",
    )
    .option('--only <parts>', `which parts to run: ${parts.join(', ')}`, partsOf(parts), parts)
    .option('--calls <n>', 'calls of each', wholeNumber, 300)
    .option('--out <path>', 'where the JSON of the calls goes (test/bench/results/mcp-<time>.json)')
    .action(async ({ only, calls, out }: Flags) => {
      if (only.includes('tokens')) {
        const { mcpTable } = await import('./tokens.ts');
        const { renderTable } = await import('../harness/table.ts');
        process.stdout.write(renderTable(mcpTable()));
      }
      if (only.includes('calls')) {
        const { runMcp } = await import('./run.ts');
        await runMcp({ calls, out });
      }
    });
}
