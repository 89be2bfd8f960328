/** The commands that the README and the tour print work as printed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, inject, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { run } from '../support/run.ts';
import { repository, stackClient, type TestStackEnv } from '../support/stack.ts';

const stack = inject('stack');
const { folder, env } = stack;
/** True on `parley dev`, which does more than the platform itself. */
const dev = env.PARLEY_TEST_NAMESPACE === undefined;

/** Returns the shell commands of the README's tour, block by block. */
async function tourBlocks(): Promise<string[]> {
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  const tour = readme.slice(readme.indexOf('## A tour in five minutes'), readme.indexOf('## Where next'));
  return [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]!);
}

/** Returns what `parley env` would print, for an installation that isn't `parley dev`'s. */
function exported({ PARLEY_BIN, ...others }: TestStackEnv): string {
  return [`PATH=${PARLEY_BIN}:$PATH`, ...Object.entries(others).map(([name, value]) => `${name}='${value}'`)]
    .map((assignment) => `export ${assignment}`)
    .join('\n');
}

it("the README's tour runs from top to bottom", async () => {
  const blocks = await tourBlocks();
  expect(blocks.length).toBeGreaterThan(5);
  // One shell runs all blocks, as a reader has it. `explain` of a broken agent exits 1 on purpose.
  const script = blocks
    .map((block) => (dev ? block : block.replace(/^eval .*$/m, exported(env))))
    .map((block) => block.replaceAll('bin/parley', `${repository}/bin/parley`).replace(/^(parley explain .*)$/m, '$1 || true'))
    .join('\necho "--- next"\n');
  const toured = await run('bash', ['--norc', '-euc', script], { cwd: folder });
  expect(toured.code, toured.stderr).toBe(0);

  const [, looked, made, equipped, called, changed, refused, tested, found, delivered, explained] = toured.stdout.split('--- next\n');
  expect(looked).toMatch(/agent\.parley\.dev\/\S+ +\S.* True/);
  expect(looked).toContain('"data":[');
  expect(made).toContain('"ai_agent_id":"night-desk-');
  expect(made).toContain('"api_key":"********"');
  expect(made).toContain('gpt-4o-mini');
  expect(equipped).toMatch(/"tool_id":"find-order-.*"Authorization":"\*{8}"/);
  expect(equipped).toContain('"provider":"sip"');
  expect(equipped).toMatch(/tool\.parley\.dev\/find-order-\S+ +find_order/);
  expect(equipped).toMatch(/phonenumber\.parley\.dev\/pn-/);
  // The tool was called, and its answer was said.
  expect(called).toMatch(
    /^agent {2}Good evening[^]*^you {4}where is my order 20417\n(agent .*\n)*agent {2}state: ready for pick-up\.[^]*ended/m,
  );
  expect(changed).toContain('"welcome_message":"Welcome back!"');
  expect(refused).toMatch(/"error":"conflict".*kubectl/);
  expect(tested).toMatch(/1 passed, 0 failed/);
  expect(found).toMatch(/bicycle-care\.pdf, page 2 .*When to replace it/);
  expect(found).toMatch(/"filename":"price-list\.xlsx".*"sheet":"Parts"/);
  expect(delivered).toMatch(/1 +\S+ +\d+ ms +204 +ok/);
  expect(delivered).toMatch(/Webhook\.Test +evt_\S+ +succeeded +1/);
  expect(delivered).toMatch(/"verdict": "verified",\s+"subscription": "call-log"/);
  expect(explained).toMatch(/missing/);
});

it.runIf(dev)("parley dev's own tour works as printed", async () => {
  const status = await run(join(repository, 'bin/parley'), ['dev', 'status'], { cwd: folder });
  const commands = status.stdout
    .split('\n')
    .map((line) => line.trim().replace(/^\$ /, ''))
    .filter((line) => /^(kubectl|curl|parley) /.test(line));
  expect(commands.filter((command) => command.startsWith('kubectl'))).toHaveLength(3);
  expect(commands.filter((command) => command.startsWith('curl'))).toHaveLength(4);
  expect(commands.filter((command) => command.startsWith('parley'))).toHaveLength(4);
  for (const command of commands) {
    const ran = await run('bash', ['--norc', '-euc', `eval "$(${repository}/bin/parley env)"; ${command}`], { cwd: folder });
    expect(ran.code, `${command}\n${ran.stderr}`).toBe(0);
    expect(ran.stdout).not.toMatch(/"error"|"detail"/);
  }
});

it.runIf(dev)('the first start has called the example agent, and left what was said to be heard', async () => {
  const recording = await readFile(join(folder, '.parley', 'first-call.ogg'));
  expect(recording.subarray(0, 4).toString()).toBe('OggS');
  const client = stackClient(stack);
  const { body } = await client.rest<{ readonly calls: readonly { readonly _id: string }[] }>(
    'GET',
    '/v1/calls?ai_agent_ids=receptionist&sort_direction=asc&page_size=1',
  );
  const first = await client.rest<{ readonly call_status: string; readonly messages: readonly { readonly role: string }[] }>(
    'GET',
    `/v1/calls/${body.calls[0]?._id}`,
  );
  expect(first.body.call_status).toBe('ended');
  expect(new Set(first.body.messages.map(({ role }) => role))).toEqual(new Set(['agent', 'user']));
});

it.runIf(dev)('a page to talk to agents is served, with all that it needs', async () => {
  const page = await fetch(`${stack.env.PARLEY_URL}/call`);
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("default-src 'none'")]);
  const script = await (await fetch(`${stack.env.PARLEY_URL}/call/call-page.js`)).text();
  expect(script).toContain('lk.transcription');
  const status = await run(join(repository, 'bin/parley'), ['dev', 'status'], { cwd: folder });
  const [, key = ''] = /\/call#key=(pk_[^&\s]+)/.exec(status.stdout) ?? [];
  const visitor = stackClient(stack, key);
  const callable = await visitor.rest('GET', '/call/agents');
  expect([callable.status, callable.text]).toEqual([200, expect.stringContaining('"ai_agent_id":"receptionist"')]);
  // The key can talk to agents, and neither read nor change what they are made of.
  expect((await visitor.rest('GET', '/v2/ai-agents')).status).toBe(403);
  expect((await visitor.rest('DELETE', '/v2/ai-agents/receptionist')).status).toBe(403);
});

interface Receiver {
  readonly received: { readonly verified: number };
  readonly data: readonly {
    readonly verdict: string;
    readonly subscription?: string;
    readonly webhook_id: string;
    readonly event: { readonly eventName: string; readonly organizationId: string; readonly traceId: string; readonly payload: object };
  }[];
}

it('the events of the example documents were delivered, and the receiver has verified their signatures', async () => {
  const client = stackClient(stack);
  const shown = await eventually(async () => {
    const found = (await (await fetch(stack.env.PARLEY_RECEIVER)).json()) as Receiver;
    expect(found.data.some(({ event }) => event.eventName === 'KnowledgeBase.DocumentCompleted')).toBe(true);
    return found;
  });
  const completed = shown.data.find(({ event }) => event.eventName === 'KnowledgeBase.DocumentCompleted')!;
  expect(completed).toMatchObject({ verdict: 'verified', subscription: 'handbook-news' });
  expect(completed.event).toMatchObject({
    organizationId: stack.env.PARLEY_ORG,
    traceId: completed.webhook_id,
    payload: { knowledge_base_id: 'workshop-handbook', status: 'completed' },
  });
  const listed = await client.parley(['webhooks', 'deliveries', 'handbook-news', '--limit', '100']);
  expect(listed.stdout, listed.stderr).toMatch(new RegExp(`KnowledgeBase.DocumentCompleted +${completed.webhook_id} +succeeded +1`));
  if (!dev) return;
  const status = await run(join(repository, 'bin/parley'), ['dev', 'status'], { cwd: folder });
  expect(status.stdout).toMatch(/✓ receiver +ready/);
  expect(status.stdout).toContain(stack.env.PARLEY_RECEIVER);
});

it('a subscription is tested, fails, and is sent again from the command line', async () => {
  const client = stackClient(stack);
  const made = await client.rest<{ id: string }>('POST', '/v1/public/webhook/subscription', {
    name: 'tour',
    url: 'http://receiver.example/tour/status/503',
    enable_signed_webhooks: true,
    retry_policy: { maxRetryAttempts: 0 },
  });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body;
  const failed = await client.parley(['webhooks', 'test', id]);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/1 .* 503 +http_status/);
  expect(failed.stderr).toMatch(/the delivery is failed/);
  const delivery = /dlv_\S+/.exec(failed.stdout)![0];
  const changed = await client.rest('PATCH', `/v1/public/webhook/subscription/${id}`, { url: 'http://receiver.example/tour' });
  expect(changed.status, changed.text).toBe(200);
  const again = await client.parley(['webhooks', 'redeliver', delivery]);
  expect(again.stdout, again.stderr).toContain(`${delivery} pending, to ${id}`);
  await eventually(async () => {
    const attempts = await client.parley(['webhooks', 'attempts', delivery]);
    expect(attempts.stdout).toMatch(/2 .* 204 +ok/);
  });
  const recovered = await client.parley(['webhooks', 'recover', id, '--since', '1h']);
  expect(recovered.stdout, recovered.stderr).toBe('0 deliveries are sent again\n');
  await client.rest('DELETE', `/v1/public/webhook/subscription/${id}`);
  const gone = await client.parley(['webhooks', 'deliveries', id]);
  expect(gone.code).toBe(1);
  expect(gone.stderr).toContain('parley webhooks list');
});
