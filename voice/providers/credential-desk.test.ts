import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { CredentialError, type Credentials } from '../calls/providers/index.ts';
import { credentialsFromDesk, openCredentialDesk, type CredentialDesk } from './credential-desk.ts';

const ref = { name: 'keys', key: 'llm' };
const never: Credentials = { read: () => Promise.reject(new Error('nobody was to ask here')) };
let desk: CredentialDesk | undefined;

afterEach(async () => {
  await desk?.close();
  desk = undefined;
});

it('hands out what the role has read, to its own user alone', async () => {
  desk = await openCredentialDesk({ credentials: { read: async (org, { name, key }) => `${org} ${name} ${key} ü` } });
  const credentials = credentialsFromDesk({ path: desk.path, otherwise: never });
  expect(await Promise.all([credentials.read('acme', ref), credentials.read('other', ref)])).toEqual([
    'acme keys llm ü',
    'other keys llm ü',
  ]);
  expect(statSync(dirname(desk.path)).mode & 0o077).toBe(0);
});

it('hands on why there is none', async () => {
  const credentials = { read: () => Promise.reject(new CredentialError('missing', 'Secret acme/keys does not exist')) };
  desk = await openCredentialDesk({ credentials });
  const error: unknown = await credentialsFromDesk({ path: desk.path, otherwise: never })
    .read('acme', ref)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CredentialError);
  expect(error).toMatchObject({ reason: 'missing', message: 'Secret acme/keys does not exist' });
});

it('is done without when it is gone, and leaves nothing behind', async () => {
  desk = await openCredentialDesk({ credentials: never });
  const { path } = desk;
  await desk.close();
  expect(existsSync(dirname(path))).toBe(false);
  expect(await credentialsFromDesk({ path, otherwise: { read: async () => 'by itself' } }).read('acme', ref)).toBe('by itself');
});
