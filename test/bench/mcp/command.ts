/** How much of a model's context the tools of `/mcp` take, and what shortening their schemas saves. */
import type { Command } from 'commander';

export function registerMcp(program: Command): void {
  program
    .command('mcp')
    .description('tokens of tools/list: of all routes and of those that are tools, with schemas in full and shortened')
    .action(async () => {
      const { mcpTable } = await import('./tokens.ts');
      const { renderTable } = await import('../harness/table.ts');
      process.stdout.write(renderTable(mcpTable()));
    });
}
