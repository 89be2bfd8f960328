import { Writable } from 'node:stream';

import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { Readiness, startProbeServer } from './lifecycle.ts';
import { createLogger } from './logging.ts';

function silentLogger() {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk: Buffer, _encoding, done) => (lines.push(chunk.toString()), done()) });
  return { logger: createLogger({ role: 'test', level: 'info', destination }), lines };
}

describe('startProbeServer', () => {
  it('answers health, readiness with its reasons, and metrics', async () => {
    const readiness = new Readiness();
    readiness.notReady('cache', 'waiting for the first list');
    const server = await startProbeServer({ host: '127.0.0.1', port: 0, readiness, registry: new Registry() });
    const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
    try {
      expect((await get('/healthz')).status).toBe(200);
      const waiting = await get('/readyz');
      expect([waiting.status, await waiting.text()]).toEqual([503, 'cache: waiting for the first list\n']);
      readiness.ready('cache');
      expect((await get('/readyz')).status).toBe(200);
      expect((await get('/metrics')).status).toBe(200);
      expect((await get('/elsewhere')).status).toBe(404);
    } finally {
      await server.close();
    }
  });
});

it('shows metrics to those who hold the token, where there is one', async () => {
  const readiness = new Readiness();
  const server = await startProbeServer({ host: '127.0.0.1', port: 0, readiness, registry: new Registry(), metricsToken: 's3cret' });
  const status = async (authorization?: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${server.port}/metrics`, authorization === undefined ? {} : { headers: { authorization } })).status;
  try {
    expect(await status('Bearer s3cret')).toBe(200);
    for (const shown of [undefined, 'Bearer', 'Bearer s3cre', 's3cret', 'Basic s3cret']) expect(await status(shown)).toBe(401);
    expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200);
  } finally {
    await server.close();
  }
});

describe('createLogger', () => {
  it('redacts secrets by key', () => {
    const { logger, lines } = silentLogger();
    logger.info({ headers: { authorization: 'Bearer canary' }, llm: { api_key: 'canary' } }, 'hello');
    expect(lines.join('')).not.toContain('canary');
    expect(lines.join('')).toContain('[redacted]');
  });
});
