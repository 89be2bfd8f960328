import { Writable } from 'node:stream';

import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { loadConfig } from './config/config.ts';
import { createLogger } from './logging.ts';
import { runRole, type RoleContext } from './role.ts';

function started(settings: Record<string, string>, start: (role: RoleContext) => Promise<void>) {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk: Buffer, _encoding, done) => (lines.push(chunk.toString()), done()) });
  const logger = createLogger({ role: 'test', level: 'info', destination });
  const config = loadConfig({ DATABASE_URL: 'postgres://127.0.0.1/none', PARLEY_HOST: '127.0.0.1', ...settings });
  const stop = new AbortController();
  const ended = runRole(
    { config, logger, registry: new Registry(), signal: stop.signal },
    { name: 'test', database: 'tests nothing in Postgres', start },
  );
  return { ended, stop: () => stop.abort(), log: () => lines.join('') };
}

it('turns unready, runs the steps of the stop last first, and goes on after one that fails', async () => {
  const stopped: string[] = [];
  const { ended, stop, log } = started({}, async (role) => {
    role.onStop('pool', () => stopped.push('pool'));
    role.onStop('queue', () => Promise.reject(new Error('stuck')));
    role.onStop('server', (reason) => stopped.push(role.readiness.isReady ? 'server while ready' : `server ${reason}`));
    role.background(
      'loop',
      new Promise((resolve) => role.stopping.addEventListener('abort', resolve)).then(() => stopped.push('loop')),
    );
  });
  stop();
  await ended;
  expect(stopped).toEqual(['loop', 'server aborted', 'pool']);
  expect(log()).toContain('"step":"queue"');
});

it('leaves when a step never ends', async () => {
  const { ended, stop, log } = started({ PARLEY_SHUTDOWN_TIMEOUT_MS: '20' }, async (role) =>
    role.onStop('hung', () => new Promise<void>(() => {})),
  );
  stop();
  await ended;
  expect(log()).toContain('took too long');
});

it('stops, and fails, when a background task fails', async () => {
  const stopped: string[] = [];
  const { ended, log } = started({}, async (role) => {
    role.onStop('pool', (reason) => stopped.push(reason));
    role.background('work', Promise.reject(new Error('lost')));
  });
  await expect(ended).rejects.toThrow('lost');
  expect(stopped).toEqual(['failed']);
  expect(log()).toContain('a background task failed');
});

it('undoes what a failed start has opened', async () => {
  const stopped: string[] = [];
  const { ended } = started({}, async (role) => {
    role.onStop('pool', () => stopped.push('pool'));
    throw new Error('port in use');
  });
  await expect(ended).rejects.toThrow('port in use');
  expect(stopped).toEqual(['pool']);
});

it('serves the probes until the last step has ended', async () => {
  let status = 0;
  const { ended, stop, log } = started({}, async (role) => {
    await role.serveProbes(0, { server: 'https://kube' });
    const port = /"port":(\d+)/.exec(log())?.[1];
    role.onStop('pool', async () => ({ status } = await fetch(`http://127.0.0.1:${port}/readyz`)));
    stop();
  });
  await ended;
  expect(status).toBe(503);
  expect(log()).toContain('"server":"https://kube"');
});

it('leaves no listener behind: Node warns of the eleventh', async () => {
  const listeners = (): number[] => ['SIGTERM', 'SIGINT'].map((name) => process.listenerCount(name));
  const before = listeners();
  let during: number[] = [];
  const { ended, stop } = started({}, async (role) => role.onStop('pool', () => (during = listeners())));
  stop();
  await ended;
  expect(during).toEqual(before.map((count) => count + 1));
  expect(listeners()).toEqual(before);
});

it('says why a role needs Postgres', async () => {
  const { ended } = started({ DATABASE_URL: '' }, async () => undefined);
  await expect(ended).rejects.toThrow('the test role tests nothing in Postgres');
});
