import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { suiteFolder } from '../test/support/folders.ts';
import { run } from '../test/support/run.ts';
import { parleyEntry } from '../test/support/stack.ts';

it('keeps the exit code of a command whose standard error is closed', async () => {
  const child = spawn(process.execPath, [parleyEntry, 'config', 'unknown'], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.destroy();
  expect(await once(child, 'exit')).toEqual([2, null]);
});

it.runIf(process.platform === 'linux')('says that its output could not be written', async () => {
  const done = await run('/bin/sh', ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, parleyEntry, 'config']);
  expect([done.code, done.stderr]).toEqual([74, expect.stringMatching(/^parley: the output can't be written: ENOSPC/)]);
});

describe('output of more than a pipe takes', () => {
  const PIPE_BYTES = 65_536;
  const COUNT = 500;
  const folder = suiteFolder();
  const env = { PARLEY_API_KEY: 'key', PARLEY_URL: '', KUBECONFIG: join(folder, 'none'), NO_COLOR: '1' };
  const description = 'x'.repeat(200);
  const subscription = { id: 's', name: description, url: 'https://a', events: [], active: true, signing_enabled: false };
  const hit = { chunk_id: 'c', filename: 'f', content: description, score: 1, metadata: {} };
  const server = createServer((request, response) => {
    const answer =
      request.url?.includes('vector/search') === true
        ? { results: Array.from({ length: COUNT }, () => hit) }
        : { data: Array.from({ length: COUNT }, () => subscription), next_page_token: null };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    env.PARLEY_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const test = (name: string): string =>
      `apiVersion: parley.dev/v1beta1\nkind: AgentTest\nmetadata: {name: ${name}}\nspec: {agentRefs: [{name: ghost}], type: Conversation, conversation: [{type: User, user: Hi}]}\n`;
    await writeFile(join(folder, 'tests.yaml'), Array.from({ length: COUNT }, (_, n) => test(`t${n}`)).join('---\n'));
  });
  afterAll(() => server.close());

  const tests = join(folder, 'tests.yaml');
  it.each([
    ['test', tests, '-o', 'json'],
    ['test', tests, '-o', 'yaml'],
    ['webhooks', 'list', '-o', 'json'],
    ['webhooks', 'list', '-o', 'yaml'],
    ['kb', 'search', 'manuals', 'reset', '-o', 'json'],
  ])('of parley %s %s … is one whole value', async (...args) => {
    const done = await run(process.execPath, [parleyEntry, ...args], { env });
    expect([done.stderr, done.code]).toEqual(['', args[0] === 'test' ? 1 : 0]);
    expect(done.stdout.length).toBeGreaterThan(PIPE_BYTES);
    const value = parse(done.stdout) as Readonly<Record<string, readonly unknown[]>> | readonly unknown[];
    expect(Array.isArray(value) ? value : (value as { readonly results: unknown }).results).toHaveLength(COUNT);
  });

  it('is whole for people, too', async () => {
    const done = await run(process.execPath, [parleyEntry, 'test', tests], { env });
    expect(done.stdout.length).toBeGreaterThan(PIPE_BYTES);
    expect(done.stdout).toMatch(new RegExp(`\\n0 passed, 0 failed, ${COUNT} errors in [\\d.]+ s\\n$`));
  });

  it.each([
    [['config'], 0],
    [['webhooks', 'list', '-o', 'json'], 0],
    [['kb', 'search', 'manuals', 'reset'], 0],
    [['test', tests], 1],
    [['test', tests, '-o', 'json'], 1],
  ])('%j ends quietly and as it would when only its first byte is read', async (args, code) => {
    const child = spawn(process.execPath, [parleyEntry, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdout.once('data', () => child.stdout.destroy());
    const [ended] = await once(child, 'close');
    expect([ended, stderr]).toEqual([code, '']);
  });
});
