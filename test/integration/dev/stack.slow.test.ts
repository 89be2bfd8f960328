/** Runs `parley dev` as its user does: two stacks in two folders, killed, stopped and started again. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { removePostgresData } from '../../../local-stack/components/postgres-installation.ts';
import { commandLine } from '../../../local-stack/processes.ts';
import { eventually } from '../../support/eventually.ts';
import { run, type Finished } from '../../support/run.ts';
import { askAsStranger } from './closed-ports.ts';
import { listeningSockets } from './open-ports.ts';
import { parley, readStackEnv, stackClient, type TestStackEnv } from '../../support/stack.ts';

const allParts = [
  'api',
  'dev-speech',
  'dispatcher',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'livekit',
  'operator',
  'postgres',
  'receiver',
  'redis',
  'temporal',
  'voice',
  'worker',
];
/** The runner's own variables must not decide where these stacks get their database and ports from. */
const env = { DATABASE_URL: undefined, PARLEY_API_PORT: undefined, KUBECONFIG: undefined };
/** The start may have to fetch or build programs first. */
const startLimitMs = 580_000;

const folders = { left: '', right: '' };
const dev = (folder: string, ...args: readonly string[]): Promise<Finished> =>
  run(parley, ['dev', ...args], { cwd: folder, env, timeoutMs: startLimitMs });
const pidsOf = (folder: string): Map<string, number> => {
  const files = readdirSync(join(folder, '.parley/run')).filter((name) => name.endsWith('.pid'));
  return new Map(files.map((name) => [name.slice(0, -4), Number(readFileSync(join(folder, '.parley/run', name), 'utf8'))]));
};

async function started(folder: string, ...args: readonly string[]): Promise<TestStackEnv> {
  // The end-to-end suite makes the call.
  const finished = await dev(folder, '--detach', '--no-call', ...args);
  expect(finished.code, `${finished.stdout}\n${finished.stderr}`).toBe(0);
  return readStackEnv(folder);
}

async function gone(pids: Iterable<number>): Promise<void> {
  for (const pid of pids) {
    await eventually(async () => {
      expect(await commandLine(pid)).toBeUndefined();
    });
  }
}

beforeAll(() => {
  folders.left = mkdtempSync(join(tmpdir(), 'parley dev left '));
  folders.right = mkdtempSync(join(tmpdir(), 'parley-dev-right-'));
});

afterAll(async () => {
  for (const folder of Object.values(folders)) {
    await dev(folder, 'stop');
    // The data of root may lie outside the folder.
    removePostgresData(join(folder, '.parley/data'));
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('two stacks side by side', () => {
  it('run in their own folders, on loopback, with ports of their own', async () => {
    const [left, right] = await Promise.all([started(folders.left), started(folders.right, '--org', 'north')]);
    expect([left.PARLEY_ORG, right.PARLEY_ORG]).toEqual(['demo', 'north']);
    for (const name of ['PARLEY_URL', 'DATABASE_URL', 'TEMPORAL_ADDRESS', 'PARLEY_API_KEY', 'PARLEY_RECEIVER'] as const)
      expect(left[name]).not.toBe(right[name]);
    for (const folder of Object.values(folders)) {
      expect([...pidsOf(folder).keys()].sort()).toEqual(allParts);
      expect(statSync(join(folder, '.parley/dev.env')).mode & 0o777).toBe(0o600);
      expect(statSync(join(folder, '.parley/kubeconfig')).mode & 0o777).toBe(0o600);
      for (const file of ['temporal.db', 'temporal.db-wal', 'temporal.db-shm'])
        expect(statSync(join(folder, '.parley/data', file)).mode & 0o777).toBe(0o600);
    }
    for (const stack of [left, right]) {
      expect(new URL(stack.PARLEY_URL).hostname).toBe('127.0.0.1');
      expect((await fetch(`${stack.PARLEY_URL}/readyz`)).status).toBe(200);
    }
    const foreign = await fetch(`${left.PARLEY_URL}/v2/ai-agents`, { headers: { authorization: `Bearer ${right.PARLEY_API_KEY}` } });
    expect(foreign.status).toBeGreaterThanOrEqual(401);
    expect(foreign.status).toBeLessThanOrEqual(403);
  });

  it('say that they run already, and stay as they are', async () => {
    const before = pidsOf(folders.left);
    const second = await dev(folders.left);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain('A stack already runs in this folder');
    expect(second.stdout).toContain((await readStackEnv(folders.left)).PARLEY_URL);
    expect(pidsOf(folders.left)).toEqual(before);
  });

  it('set a shell up, from any folder inside', async () => {
    const script = `eval "$(${parley} env)"; kubectl auth whoami -o jsonpath={.status.userInfo.username}; echo; for name in kubectl temporal parley; do command -v $name; done; parley doctor`;
    const shell = await run('/bin/sh', ['-euc', script], { cwd: join(folders.left, '.parley/data'), env });
    expect(shell.code, `${shell.stdout}\n${shell.stderr}`).toBe(0);
    const bin = join(folders.left, '.parley/bin');
    expect(shell.stdout.split('\n').slice(0, 4)).toEqual(['parley-admin', `${bin}/kubectl`, `${bin}/temporal`, `${bin}/parley`]);
    expect(shell.stdout).toContain('no check failed');

    const outside = await run(parley, ['env'], { cwd: tmpdir(), env });
    expect(outside).toMatchObject({ code: 1, stdout: '' });
    expect(outside.stderr).toMatch(/no stack is ready[\s\S]*→ .*parley dev/);
  });

  it.runIf(process.platform === 'linux')('require credentials, and answer this machine only', async () => {
    const root = Number(readFileSync(join(folders.left, '.parley/supervisor.pid'), 'utf8'));
    const sockets = listeningSockets(root);
    // Each component has one at least, so that the list is complete; Temporal's may be in a network of their own, where the system allows
    // it.
    expect(new Set(sockets.map(({ pid }) => pid)).size).toBeGreaterThanOrEqual(allParts.length - 1);
    expect(sockets.filter(({ address }) => !address.startsWith('127.'))).toEqual([]);
    const ports = sockets.filter(({ protocol }) => protocol === 'tcp').map(({ port }) => port);
    const { uid, answers } = await askAsStranger(ports);
    if (process.getuid?.() === 0) expect(uid).not.toBe(0);
    expect(answers).toEqual([]);
  });

  it('let no tool, lookup or subscription call their own servers, however it is written', async () => {
    const stack = await readStackEnv(folders.left);
    const client = stackClient({ folder: folders.left, env: stack });
    const { ports } = JSON.parse(readFileSync(join(folders.left, '.parley/stack.json'), 'utf8')) as {
      ports: Readonly<Record<string, number>>;
    };
    const { receiver, 'dev-speech': speech, ...servers } = ports;
    const hosts = [
      '127.0.0.1',
      'localhost',
      'a.localhost',
      '[::1]',
      '127.1',
      '2130706433',
      '0x7f000001',
      '127.9.9.9',
      '[::ffff:127.0.0.1]',
    ];
    const status = async (url: string): Promise<number> =>
      (await client.rest('POST', '/v1/public/webhook/subscription?dry_run=true', { name: 'x', url, enable_signed_webhooks: true })).status;
    // Other ports of this machine may be called: people try their own tools here.
    for (const port of [receiver, speech, 3000]) expect(await status(`http://127.0.0.1:${port}/`)).toBeLessThan(300);
    for (const port of Object.values(servers))
      for (const host of hosts) expect([host, port, await status(`http://${host}:${port}/`)]).toEqual([host, port, 400]);
  });

  it('show what Temporal has to those who hold its certificate or password', async () => {
    const stack = await readStackEnv(folders.left);
    const list = await run(
      '/bin/sh',
      ['-euc', `eval "$(${parley} env)"; temporal operator namespace list -o json | head -c 20; curl -s "$TEMPORAL_UI/api/v1/namespaces"`],
      {
        cwd: folders.left,
        env,
      },
    );
    expect(list.stdout, list.stderr).toContain('namespaceInfo');
    const { host, port, password } = new URL((stack as unknown as { readonly TEMPORAL_UI: string }).TEMPORAL_UI);
    const ui = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> => {
      const [answer] = (await once(request({ host: '127.0.0.1', port, path: '/api/v1/namespaces', headers }).end(), 'response')) as [
        IncomingMessage,
      ];
      answer.resume();
      return answer.statusCode;
    };
    const authorization = `Basic ${Buffer.from(`parley:${password}`).toString('base64')}`;
    expect(await ui({ host, authorization })).toBe(200);
    expect(await ui({ host, authorization: `Basic ${Buffer.from('parley:').toString('base64')}` })).toBe(401);
    expect(await ui({ host: `attacker.example:${port}`, authorization })).toBe(421);
  });

  it('give the roles no more than their own permissions', async () => {
    const bin = join(folders.left, '.parley/bin/kubectl');
    const may = async (role: string, ...what: readonly string[]): Promise<string> =>
      (
        await run(bin, [`--kubeconfig=${join(folders.left, '.parley/secrets', `${role}.kubeconfig`)}`, 'auth', 'can-i', ...what])
      ).stdout.trim();
    expect(await may('operator', 'patch', 'agents.parley.dev', '--subresource=status', '-n', 'demo')).toBe('yes');
    expect(await may('operator', 'create', 'agents.parley.dev', '-n', 'demo')).toBe('no');
    expect(await may('api', 'create', 'agents.parley.dev', '-n', 'demo')).toBe('yes');
    expect(await may('api', 'patch', 'agents.parley.dev', '--subresource=status', '-n', 'demo')).toBe('no');
    for (const role of ['operator', 'api']) expect(await may(role, 'create', 'clusterrolebindings')).toBe('no');
  });
});

it('a component that is there and does not answer is distinguished from one that does', async () => {
  const client = stackClient({ folder: folders.left, env: await readStackEnv(folders.left) });
  const worker = await client.pid('worker');
  process.kill(worker, 'SIGSTOP');
  try {
    const status = await dev(folders.left, 'status');
    expect(status.stdout).toMatch(/! worker +does not answer within 2 s, process \d+/);
    expect(status.stdout).toMatch(/✓ api +ready/);
    expect(status.code).toBe(1);
  } finally {
    process.kill(worker, 'SIGCONT');
  }
});

describe('components that are killed', () => {
  it.each(allParts)('%s is back with a new process, and its log is kept', async (component) => {
    const client = stackClient({ folder: folders.left, env: await readStackEnv(folders.left) });
    const before = await client.pid(component);
    process.kill(before, 'SIGKILL');
    await eventually(async () => {
      const status = await dev(folders.left, 'status');
      expect(status.stdout).toMatch(new RegExp(`✓ ${component} +ready, process (?!${before}\\b)\\d+, restarted \\d+×`));
    });
    expect(readFileSync(join(folders.left, '.parley/logs', `${component}.log`), 'utf8')).toContain('was killed by SIGKILL');
  });

  it('leave a stack that works', async () => {
    const client = stackClient({ folder: folders.left, env: await readStackEnv(folders.left) });
    await eventually(async () => {
      expect((await client.rest('GET', '/v2/ai-agents')).status).toBe(200);
    });
    await eventually(async () => {
      await client.kubectl(['annotate', 'agent/receptionist', 'parley.dev/reconcile-requested-at=after-the-kills', '--overwrite']);
      const { status } = await client.getJson<{ status: { lastHandledReconcileAt?: string } }>(['agent/receptionist']);
      expect(status.lastHandledReconcileAt).toBe('after-the-kills');
    });
  });
});

describe('stopping', () => {
  it('takes everything down, dev.env first; a second start has the same key, addresses and data', async () => {
    const before = await readStackEnv(folders.left);
    await stackClient({ folder: folders.left, env: before }).kubectl(['create', 'configmap', 'mine']);
    const pids = pidsOf(folders.left);
    expect((await dev(folders.left, 'stop')).code).toBe(0);
    expect(existsSync(join(folders.left, '.parley/dev.env'))).toBe(false);
    expect(pidsOf(folders.left).size).toBe(0);
    await gone(pids.values());
    expect((await dev(folders.left, 'status')).code).toBe(1);

    const after = await started(folders.left);
    expect(after).toEqual(before);
    await stackClient({ folder: folders.left, env: after }).kubectl(['get', 'configmap', 'mine']);
  });

  it('also happens when the supervisor is killed, and the next start is as any other', async () => {
    const before = await readStackEnv(folders.right);
    const pids = pidsOf(folders.right);
    process.kill(Number(readFileSync(join(folders.right, '.parley/supervisor.pid'), 'utf8')), 'SIGKILL');
    await gone(pids.values());
    expect(existsSync(join(folders.right, '.parley/dev.env'))).toBe(false);
    expect(await started(folders.right)).toEqual(before);
  });

  it('with --reset begins with empty data', async () => {
    const before = await readStackEnv(folders.left);
    const after = await started(folders.left, '--reset');
    expect(after.PARLEY_API_KEY).not.toBe(before.PARLEY_API_KEY);
    const found = await stackClient({ folder: folders.left, env: after }).kubectl(['get', 'configmap', 'mine'], { allowFailure: true });
    expect(found.stderr).toContain('NotFound');
  });
});
