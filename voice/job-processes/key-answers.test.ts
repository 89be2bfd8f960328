import { expect, it } from 'vitest';

import { ProviderKeyError, type ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { answersWithKeys, keysFromRole } from './key-answers.ts';
import type { RoleClient } from './role-client.ts';

const ref = { name: 'keys', key: 'llm' };
const never: ProviderKeyReader = { read: () => Promise.reject(new Error('unexpected read')) };
const fallback: ProviderKeyReader = { read: async () => 'by itself' };

/** Builds the role as its job processes reach it: through JSON. */
function roleWith(keys: ProviderKeyReader): Pick<RoleClient, 'ask'> {
  const readKey = answersWithKeys(keys);
  return {
    ask: async (_service, ...args) => JSON.parse(JSON.stringify(await readKey(...(args as Parameters<typeof readKey>)))) as never,
  };
}

it('gives a job process what the role has read', async () => {
  const role = roleWith({ read: async (org, { name, key }) => `${org} ${name} ${key} ü` });
  expect(await keysFromRole(role, never).read('acme', ref)).toBe('acme keys llm ü');
});

it('passes on why a key cannot be read, and nothing of a defect', async () => {
  const missing = { read: () => Promise.reject(new ProviderKeyError('missing', 'Secret acme/keys does not exist')) };
  const error: unknown = await keysFromRole(roleWith(missing), never)
    .read('acme', ref)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ProviderKeyError);
  expect(error).toMatchObject({ reason: 'missing', message: 'Secret acme/keys does not exist' });
  await expect(keysFromRole(roleWith(never), never).read('acme', ref)).rejects.toMatchObject({
    reason: 'unavailable',
    message: 'the voice role failed to read the Secret: see its log',
  });
});

it('reads the key in the job process where the role does not answer', async () => {
  const gone = { ask: () => Promise.reject(new Error('the voice role is gone')) };
  expect(await keysFromRole(gone, fallback).read('acme', ref)).toBe('by itself');
});
