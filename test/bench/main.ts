/** `npm run bench -- <name>`: measures, prints a Markdown table, writes JSON. Figures are compared within one run, never against a limit. */
import { Command } from 'commander';

import { registerAgentTests } from './agent-tests/command.ts';
import { registerControlPlane } from './control-plane/command.ts';
import { registerEventLoop } from './event-loop/command.ts';
import { registerKnowledge } from './knowledge/command.ts';
import { registerMcp } from './mcp/command.ts';
import { registerMediaSidecar } from './media-sidecar/command.ts';
import { registerRateLimits } from './rate-limits/command.ts';
import { registerTenants } from './tenants/command.ts';
import { registerTraces } from './traces/command.ts';
import { registerVoiceBench } from './voice/command.ts';
import { registerWebhooks } from './webhooks/command.ts';

const program = new Command('bench')
  .description('Benchmarks. Each compares things side by side in one run; see docs/benchmarks.md.')
  .showHelpAfterError('(run with --help for what is allowed)');

registerAgentTests(program);
registerControlPlane(program);
registerEventLoop(program);
registerKnowledge(program);
registerMcp(program);
registerMediaSidecar(program);
registerRateLimits(program);
registerTenants(program);
registerTraces(program);
registerVoiceBench(program);
registerWebhooks(program);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
