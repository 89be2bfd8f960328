import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { externalDatabase, readEnvFile, removeEnvFile, shellExports, type StackEnv, writeEnvFile } from './env-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley env '));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = (): StackEnv => ({
  PARLEY_URL: 'http://127.0.0.1:1234',
  PARLEY_ORG: 'demo',
  PARLEY_API_KEY: 'pk_live+/=',
  KUBECONFIG: join(folder, "it's here", 'kubeconfig'),
  DATABASE_URL: 'postgres://parley:secret@127.0.0.1:5432/parley?application_name=a%20b',
  STORAGE_URL: 'file:///tmp/files',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  PARLEY_RECEIVER: 'http://127.0.0.1:5',
  LIVEKIT_URL: 'ws://127.0.0.1:7880',
  PARLEY_SPEECH_URL: 'http://127.0.0.1:4100/v1',
  PARLEY_CALL_URL: 'http://127.0.0.1:8080/call#key=pk_1',
  PARLEY_BIN: join(folder, 'bin'),
});

it('is read back as it was written, for its owner only, and is gone after removal', () => {
  const file = join(folder, 'dev.env');
  writeEnvFile(file, env());
  expect(readEnvFile(file)).toEqual(env());
  expect(statSync(file).mode & 0o777).toBe(0o600);
  removeEnvFile(file);
  expect(readEnvFile(file)).toBeUndefined();
  removeEnvFile(file);
});

it('sets a POSIX shell up, once', () => {
  mkdirSync(join(folder, 'bin'));
  const script = `${shellExports(env())}${shellExports(env())}printf '%s\\n' "$KUBECONFIG" "$DATABASE_URL" "$PARLEY_API_KEY" "$PATH"`;
  const [kubeconfig, databaseUrl, apiKey, path] = execFileSync('/bin/sh', ['-euc', script], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin' },
  }).split('\n');
  expect({ kubeconfig, databaseUrl, apiKey }).toEqual({
    kubeconfig: env().KUBECONFIG,
    databaseUrl: env().DATABASE_URL,
    apiKey: env().PARLEY_API_KEY,
  });
  expect(path).toBe(`${env().PARLEY_BIN}:/usr/bin:/bin`);
});

it("takes a DATABASE_URL for the person's own server, unless a local stack made it up", () => {
  expect(externalDatabase({ DATABASE_URL: 'postgres://me:secret@127.0.0.1:5432/parley' })).toBe(
    'postgres://me:secret@127.0.0.1:5432/parley',
  );
  expect(externalDatabase({ DATABASE_URL: `postgres://parley:${'0a'.repeat(18)}@127.0.0.1:41597/parley` })).toBeUndefined();
  expect(externalDatabase({ DATABASE_URL: '' })).toBeUndefined();
  expect(externalDatabase({})).toBeUndefined();
});
