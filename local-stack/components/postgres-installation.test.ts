import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { beforeEach, describe, expect, it, vi } from 'vitest';

import { suiteFolder, testFolder } from '../../test/support/folders.ts';
import { postgresInstallation, removePostgresData } from './postgres-installation.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

it('keeps the data in the stack and runs as the person, who is not root', () => {
  expect(postgresInstallation({ stateDir: folder, binary: '/usr/bin/env', uid: 1000 })).toEqual({
    dataDir: join(folder, 'postgres'),
    binary: '/usr/bin/env',
  });
});

describe('for root', () => {
  /** Everybody may enter this folder; only root may give a folder away. */
  const sharedDir = suiteFolder();
  const root = { uid: 0, sharedDir, chown: () => undefined };

  it('takes an account without rights, and keeps the data in the stack where that account can get there', () => {
    chmodSync(folder, 0o755);
    const home = postgresInstallation({ ...root, stateDir: folder, binary: '/usr/bin/env' });
    expect(home.dataDir).toBe(join(folder, 'postgres'));
    expect(home.account?.uid).toBeGreaterThan(0);
  });

  it('keeps the data outside a folder that only root may enter, finds them again, and removes them', () => {
    const stateDir = join(folder, 'private', 'data');
    mkdirSync(join(folder, 'private'), { mode: 0o700 });
    const given = vi.fn<(path: string, uid: number, gid: number) => void>();
    const home = postgresInstallation({ ...root, stateDir, binary: '/usr/bin/env', chown: given });
    expect(home.dataDir.startsWith(sharedDir)).toBe(true);
    expect(given).toHaveBeenCalledExactlyOnceWith(dirname(home.dataDir), home.account?.uid, home.account?.gid);
    mkdirSync(home.dataDir);
    expect(postgresInstallation({ ...root, stateDir, binary: '/usr/bin/env' }).dataDir).toBe(home.dataDir);
    removePostgresData(stateDir);
    expect(existsSync(home.dataDir)).toBe(false);
  });

  it('copies an installation that the account can not run to where it can', () => {
    chmodSync(folder, 0o700);
    const name = `private-${process.pid}`;
    mkdirSync(join(folder, name, 'bin'), { recursive: true });
    writeFileSync(join(folder, name, 'bin/postgres'), '#!/bin/sh\n', { mode: 0o755 });
    const { binary } = postgresInstallation({ ...root, stateDir: folder, binary: join(folder, name, 'bin/postgres') });
    expect(binary.startsWith(sharedDir)).toBe(true);
    expect(statSync(binary).mode & 0o111).toBe(0o111);
  });
});
