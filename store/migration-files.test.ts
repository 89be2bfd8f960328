import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from 'vitest';

import { testFolder } from '../test/support/folders.ts';
import { readMigrations } from './migration-files.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

const write = (name: string, sql = 'SELECT 1;\n') => writeFileSync(join(folder, name), sql);

describe('readMigrations', () => {
  it('finds those of this code, numbered from 1', () => {
    const ours = readMigrations();
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.map(({ version }) => version)).toEqual(ours.map((_, index) => index + 1));
  });

  it('has one checksum whatever the line ends of the checkout', () => {
    write('0001_a.sql', 'SELECT 1;\nSELECT 2;\n');
    const unix = readMigrations(folder)[0]?.checksum;
    write('0001_a.sql', 'SELECT 1;\r\nSELECT 2;\r\n');
    expect(readMigrations(folder)[0]?.checksum).toBe(unix);
    write('0001_a.sql', 'SELECT 1;\nSELECT 3;\n');
    expect(readMigrations(folder)[0]?.checksum).not.toBe(unix);
  });

  it('refuses a gap, a number that comes twice, and a name without one, by name', () => {
    write('0001_a.sql');
    write('0003_c.sql');
    expect(() => readMigrations(folder)).toThrow(/0003_c.*0002/);
    rmSync(join(folder, '0003_c.sql'));
    write('0001_b.sql');
    expect(() => readMigrations(folder)).toThrow(/0001_b.*0002/);
    rmSync(join(folder, '0001_b.sql'));
    write('later.sql');
    expect(() => readMigrations(folder)).toThrow(/later\.sql/);
  });
});
