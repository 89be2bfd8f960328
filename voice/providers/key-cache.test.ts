import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { ProviderKeyError, type ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { keysFromCache, reportMeasurements, reportTakeover, serveKeyCache, type KeyCacheServer } from './key-cache.ts';

const ref = { name: 'keys', key: 'llm' };
const never: ProviderKeyReader = { read: () => Promise.reject(new Error('unexpected read')) };
let cache: KeyCacheServer | undefined;

afterEach(async () => {
  await cache?.close();
  cache = undefined;
});

it('serves what the role has read, to its own user alone', async () => {
  cache = await serveKeyCache({ read: async (org, { name, key }) => `${org} ${name} ${key} ü` });
  const keys = keysFromCache({ path: cache.path, fallback: never });
  expect(await Promise.all([keys.read('acme', ref), keys.read('other', ref)])).toEqual(['acme keys llm ü', 'other keys llm ü']);
  expect(statSync(dirname(cache.path)).mode & 0o077).toBe(0);
});

it('passes on why a key cannot be read', async () => {
  const keys = { read: () => Promise.reject(new ProviderKeyError('missing', 'Secret acme/keys does not exist')) };
  cache = await serveKeyCache(keys);
  const error: unknown = await keysFromCache({ path: cache.path, fallback: never })
    .read('acme', ref)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ProviderKeyError);
  expect(error).toMatchObject({ reason: 'missing', message: 'Secret acme/keys does not exist' });
});

it('falls back when the role is gone, and leaves no folder behind', async () => {
  cache = await serveKeyCache(never);
  const { path } = cache;
  await cache.close();
  expect(existsSync(dirname(path))).toBe(false);
  expect(await keysFromCache({ path, fallback: { read: async () => 'by itself' } }).read('acme', ref)).toBe('by itself');
});

it('reports to the role which part a fallback has taken over, and nothing else', async () => {
  const both = Promise.withResolvers<void>();
  const parts: string[] = [];
  cache = await serveKeyCache(never, { onTakeover: (part) => void (parts.push(part) === 2 && both.resolve()) });
  for (const part of ['llm', 'toString', 'tts'] as const) reportTakeover(cache.path, part as 'llm');
  await both.promise;
  expect(parts.toSorted()).toEqual(['llm', 'tts']);
});

it('reports to the role what was measured, all before it answers', async () => {
  const measured: unknown[] = [];
  cache = await serveKeyCache(never, { onMeasurement: (measurement) => measured.push(measurement) });
  const measurements = [200, 201].map((inputTokens) => ({
    operation: 'chat',
    provider: 'openai',
    model: 'gpt-4o',
    seconds: 0.5,
    usage: { inputTokens, outputTokens: 3 },
  }));
  await reportMeasurements(cache.path, measurements);
  expect(measured).toEqual(measurements);
});
