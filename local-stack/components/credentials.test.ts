import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { selfSigned } from './self-signed.ts';
import { testFolder } from '../../test/support/folders.ts';
import { ensureCredentials } from './credentials.ts';

it('keep the certificate of the API server until two months before it ends', () => {
  const folder = testFolder();
  const { certDir, tokens } = ensureCredentials(folder);
  const certificate = join(certDir, 'apiserver.crt');
  mkdirSync(certDir);
  writeFileSync(certificate, selfSigned({ names: ['localhost'], days: 365 }).cert);
  const inDays = (days: number) => Date.now() + days * 24 * 3_600_000;
  expect(ensureCredentials(folder, inDays(300)).tokens).toEqual(tokens);
  expect(existsSync(certificate)).toBe(true);
  expect(ensureCredentials(folder, inDays(310)).tokens).toEqual(tokens);
  expect(existsSync(certificate)).toBe(false);
});
