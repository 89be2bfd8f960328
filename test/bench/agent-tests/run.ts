/** What `parley test` takes: to begin, for 100 tests and for 1,000 attempts of one; on the bundle, as people have it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { API_VERSION } from '../../../crds/kind.ts';
import { anAgent, aTool } from '../../support/builders.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { bundle, ensureBundle } from '../harness/bundle.ts';
import { machineFacts, watchMachine } from '../harness/machine.ts';
import { ProcessSampler, type ProcessUse } from '../harness/process-sampler.ts';
import { progress } from '../harness/progress.ts';
import { publishReport } from '../harness/report.ts';
import { duration, type Table } from '../harness/table.ts';

interface Measured {
  readonly what: string;
  /** Until the model gets the first request, in milliseconds; absent where it gets none. */
  readonly firstRequestMs: number | undefined;
  /** Processor time until then. */
  readonly firstCpuMs: number | undefined;
  readonly totalMs: number;
  readonly cpuMs: number;
  readonly memoryMB: number;
  /** Last line of the output. */
  readonly summary: string;
}

/** Takes about two minutes; needs no server. */
export async function runAgentTests({
  quick,
  build,
  out,
}: {
  readonly quick?: true;
  readonly build: boolean;
  readonly out?: string;
}): Promise<void> {
  const startedAt = new Date();
  if (build) await ensureBundle(progress);
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const scale = quick ? { tests: 5, attempts: 20 } : { tests: 100, attempts: 1_000 };
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  const provider = await startProviderServer();
  const results: Measured[] = [];
  try {
    await writeFiles(folder, scale);
    const measure = async (what: string, args: readonly string[]): Promise<void> => {
      progress(what);
      results.push(await measured(what, args, { folder, provider }));
    };
    await measure('one test', ['-t', 'order-0']);
    await measure('the same, again', ['-t', 'order-0']);
    await measure(`${scale.tests} tests`, ['--agent', 'receptionist', ...names(scale.tests)]);
    await measure(`${scale.tests} tests, recording`, ['--record', ...names(scale.tests)]);
    await measure(`${scale.tests} tests, replayed`, ['--replay', ...names(scale.tests)]);
    await measure(`${scale.attempts} attempts of one test`, ['-t', 'often', '--repeat', String(scale.attempts), '--live']);
  } finally {
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  }
  await publishReport(
    {
      benchmark: 'agent-tests',
      startedAt: startedAt.toISOString(),
      durationSeconds: (Date.now() - startedAt.getTime()) / 1000,
      machine,
      disturbance: await disturbanceSoFar(),
      scale,
      results: { runs: results },
      failures: Object.fromEntries(
        results.filter(({ summary }) => !/, 0 failed in/.test(summary)).map(({ what, summary }) => [what, summary]),
      ),
    },
    [tableOf(results)],
    out,
  );
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => ['-t', `order-${index}`]).flat();

function tableOf(results: readonly Measured[]): Table {
  const maybe = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));
  return {
    title: 'parley test',
    columns: ['run', 'until the first request', 'CPU until then', 'in all', 'CPU in all', 'memory', 'result'],
    rows: results.map(({ what, firstRequestMs, firstCpuMs, totalMs, cpuMs, memoryMB, summary }) => [
      what,
      maybe(firstRequestMs),
      maybe(firstCpuMs),
      duration(totalMs),
      duration(cpuMs),
      `${memoryMB} MB`,
      summary,
    ]),
    notes: ['Each test has two turns, a tool call and four requests to a model that answers at once; four conversations at a time.'],
  };
}

async function writeFiles(folder: string, { tests }: { readonly tests: number }): Promise<void> {
  const spec = {
    agentRefs: [{ name: 'receptionist' }],
    tools: [{ name: 'look_up_order', returns: { state: 'shipped' } }],
    conversation: [
      { user: 'Where is my order 42?', expect: [{ tool: { name: 'look_up_order' } }, { answer: { contains: ['shipped'] } }] },
      { user: 'Thanks, bye!', expect: [{ ends: 'agent_ended_call' }] },
    ],
  };
  const test = (name: string) => ({ apiVersion: API_VERSION, kind: 'AgentTest', metadata: { name }, spec });
  const tool = aTool('look-up-order', undefined, {
    agentRefs: [{ name: 'receptionist' }],
    custom: { function: { name: 'look_up_order' }, http: { url: 'https://orders.example.com' } },
  });
  const agent = anAgent('receptionist', undefined, {
    welcomeMessage: 'Hello.',
    llm: { provider: 'openai', model: 'm', systemPrompt: 'You sell bicycles.' },
  });
  const objects = [agent, tool, test('often'), ...Array.from({ length: tests }, (_, index) => test(`order-${index}`))];
  await writeFile(join(folder, 'all.yaml'), objects.map((object) => stringify(object)).join('---\n'));
}

async function measured(
  what: string,
  args: readonly string[],
  { folder, provider }: { readonly folder: string; readonly provider: ProviderServer },
): Promise<Measured> {
  const env = { ...process.env, PARLEY_PROVIDERS: JSON.stringify([{ name: 'openai', baseURL: provider.url }]), OPENAI_API_KEY: 'key' };
  const began = performance.now();
  const child = spawn(process.execPath, [bundle, 'test', folder, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const sampler = new ProcessSampler({ pid: child.pid ?? 0, intervalMs: 50, sinceProcessStart: true });
  let first: { readonly ms: number; readonly cpuMs: number | undefined } | undefined;
  provider.reset();
  provider.chat(({ lastUser, toolResults }) => {
    first ??= { ms: performance.now() - began, cpuMs: sampler.use()?.cpuMs };
    if (toolResults.length > 0) return 'It has shipped.';
    return lastUser.includes('bye') ? { text: 'Goodbye!', toolCalls: [{ name: 'end_call' }] } : { toolCalls: [{ name: 'look_up_order' }] };
  });
  let printed = '';
  let use: ProcessUse | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    use = sampler.use() ?? use;
  });
  await once(child, 'close');
  return {
    what,
    firstRequestMs: first?.ms,
    firstCpuMs: first?.cpuMs,
    totalMs: performance.now() - began,
    cpuMs: use?.cpuMs ?? 0,
    memoryMB: Math.round((use?.rssMaxBytes ?? 0) / 1_000_000),
    summary: printed.trim().split('\n').at(-1) ?? '',
  };
}
