/** What one organisation feels of another that floods the installation: a stack of `parley dev`, as anybody starts it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { anAgentRequest } from '../../support/builders.ts';
import { run } from '../../support/run.ts';
import { parley, readStackEnv, stackClient, startDevStack, type StackClient } from '../../support/stack.ts';
import { progress } from '../harness/progress.ts';
import { runParts } from '../harness/run-parts.ts';
import { percentile } from '../harness/stats.ts';
import { duration, times, type Table } from '../harness/table.ts';
import type { FloodTask } from './flood-process.ts';
import { floods } from './floods.ts';

export interface TenantsOptions {
  /** Length of each measurement, in seconds. */
  readonly seconds: number;
  /** Names of floods, with commas; all where absent. */
  readonly only?: string | undefined;
  /** Path of the JSON. */
  readonly out?: string | undefined;
}

interface Measurement {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** By status; 0 for what broke off. */
  readonly refused: Readonly<Record<number, number>>;
}

interface Request {
  readonly method: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Result {
  readonly flood: string;
  readonly alone: Measurement;
  readonly flooded: Measurement;
}

/** Between two requests of the victim, in milliseconds: it stays far below its own limit. */
const PACE_MS = 50;
/** Until a flood has begun, and until what it has left is over. */
const SETTLE_MS = 3_000;

/** @throws Error for a flood that there isn't, and when the stack can't be started */
export async function runTenants({ seconds, only, out }: TenantsOptions): Promise<void> {
  const names = only?.split(',') ?? Object.keys(floods);
  const unknown = names.filter((name) => floods[name] === undefined);
  if (unknown.length > 0) throw new Error(`there is no flood ${unknown.join(', ')}; there are: ${Object.keys(floods).join(', ')}`);
  const folder = await mkdtemp(join(tmpdir(), 'parley-tenants-'));
  const receiver = await hostileReceiver();
  await runParts({
    benchmark: 'tenants',
    parts: ['tenants'],
    run: async () => {
      await startDevStack(folder);
      const stack = { folder, env: await readStackEnv(folder) };
      const [victim, attacker] = [await tenant(stackClient(stack), 'calm'), await tenant(stackClient(stack), 'loud')];
      for (const path of ['close', 'hang'])
        await attacker.client.rest('POST', '/v1/public/webhook/subscription', { name: path, url: `${receiver.url}/${path}` });
      const results: Result[] = [];
      for (const flood of names) {
        progress(`${flood} …`);
        const alone = await measure(victim, seconds);
        const flooding = startFlood({ flood, ...attacker.task });
        await delay(SETTLE_MS);
        const flooded = await measure(victim, seconds);
        await flooding.stop();
        await delay(SETTLE_MS);
        results.push({ flood, alone, flooded });
      }
      return { figures: { results }, tables: [table(results)] };
    },
    stop: async () => {
      receiver.stop();
      await run(parley, ['dev', 'stop'], { cwd: folder });
      await rm(folder, { recursive: true, force: true });
    },
    scale: { seconds, floods: names },
    out,
  });
}

interface Tenant {
  readonly client: StackClient;
  readonly task: Omit<FloodTask, 'flood'>;
}

async function tenant(admin: StackClient, org: string): Promise<Tenant> {
  await admin.createOrganization(org);
  const made = await admin.parley(['keys', 'create', '--org', org, '--name', 'bench', '--permissions', '*', '--json']);
  const { api_key: key } = JSON.parse(made.stdout) as { api_key: string };
  const client = stackClient(admin, key);
  const created = async <T>(path: string, body: object): Promise<T> => {
    const answer = await client.rest(path.startsWith('/') ? 'POST' : 'GET', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body as T;
  };
  const agent = (await created<{ ai_agent_id: string }>('/v2/ai-agents', anAgentRequest('Desk'))).ai_agent_id;
  const base = (await created<{ id: string }>('/api/v1/knowledge-bases', { name: 'Manuals' })).id;
  const test = 'hours';
  const manifest = {
    apiVersion: 'parley.dev/v1alpha1',
    kind: 'AgentTest',
    metadata: { name: test, namespace: org },
    spec: { agentRefs: [{ name: agent }], conversation: [{ user: 'Hi', expect: [{ answer: { contains: ['nine'] } }] }] },
  };
  await client.kubectl(['apply', '-f', '-'], { input: manifest });
  const env = { ...admin.env, PATH: `${admin.env.PARLEY_BIN}:${process.env['PATH'] ?? ''}` };
  return { client, task: { url: admin.env.PARLEY_URL, key, agent, base, test, org, env } };
}

function startFlood(task: FloodTask): { stop(): Promise<void> } {
  const child = fork(fileURLToPath(new URL('flood-process.ts', import.meta.url)), [JSON.stringify(task)], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Reads, a write and a search in turn, as somebody at work sends them. */
async function measure({ task: { url, key, agent, base } }: Tenant, seconds: number): Promise<Measurement> {
  const latencies: number[] = [];
  const refused: Record<number, number> = {};
  const json = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const requests: readonly ((index: number) => readonly [string, Request?])[] = [
    () => ['/v2/ai-agents'],
    () => [`/v2/ai-agents/${agent}`],
    (index) => [`/v2/ai-agents/${agent}`, { method: 'PUT', ...json({ welcome_message: `Hello ${index}` }) }],
    (index) => ['/api/v1/vector/search', { method: 'POST', ...json({ knowledge_base_id: base, query: `hours ${index}` }) }],
  ];
  const until = performance.now() + seconds * 1_000;
  for (let index = 0; performance.now() < until; index += 1) {
    const [path, { headers, ...init } = {}] = requests[index % requests.length]!(index);
    const began = performance.now();
    const status = await fetch(new URL(path, url), {
      ...init,
      headers: { ...headers, authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(60_000),
    }).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 0,
    );
    latencies.push(performance.now() - began);
    if (status < 200 || status >= 300) refused[status] = (refused[status] ?? 0) + 1;
    await delay(PACE_MS);
  }
  const [p50Ms, p95Ms, maxMs] = [50, 95, 100].map((p) => percentile(latencies, p)) as [number, number, number];
  return { requests: latencies.length, p50Ms, p95Ms, maxMs, refused };
}

function table(results: readonly Result[]): Table {
  return {
    title: 'One organisation at work while another floods',
    columns: ['flood', 'p95 alone', 'p95 under it', 'ratio', 'longest', 'refused'],
    rows: results.map(({ flood, alone, flooded }) => [
      flood,
      duration(alone.p95Ms),
      duration(flooded.p95Ms),
      times(flooded.p95Ms / alone.p95Ms),
      duration(flooded.maxMs),
      Object.entries(flooded.refused)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ') || '0',
    ]),
    notes: [
      'The one at work reads a list and an agent, changes the agent and searches, one after the other; alone directly before each flood.',
    ],
  };
}

/** Takes a delivery at `/close` and closes at once; never answers at `/hang`. */
async function hostileReceiver(): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer((request, response) => {
    if (request.url === '/close') response.writeHead(200, { 'content-length': '0' }).end(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
