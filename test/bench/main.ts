/** `npm run bench -- <suite>`: measures, prints a Markdown table, writes JSON. Figures are compared within one run, never against a limit. */
const SUITES: Readonly<Record<string, () => Promise<{ readonly run: (args: readonly string[]) => Promise<void> }>>> = {
  'control-plane': () => import('./control-plane/suite.ts'),
  conversion: () => import('./conversion/suite.ts'),
  knowledge: () => import('./knowledge/suite.ts'),
  mcp: () => import('./mcp/suite.ts'),
  traces: () => import('./traces/suite.ts'),
  voice: () => import('./voice/suite.ts'),
  webhooks: () => import('./webhooks/suite.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = SUITES[name];
try {
  if (load === undefined) throw new Error(`name a suite: ${Object.keys(SUITES).join(', ')}; --help after it lists its options`);
  const { run } = await load();
  await run(args);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
