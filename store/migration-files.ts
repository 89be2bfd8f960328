/** Reads the numbered SQL files and their checksums. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { locateAsset } from '../platform/assets.ts';
import { StoreError } from './error.ts';

export interface Migration {
  /** 1, 2, 3, … without gaps. */
  readonly version: number;
  /** File name without `.sql`, e.g. `0001_schema`. */
  readonly name: string;
  readonly sql: string;
  /** Lower-case hex SHA-256 of the text, independent of line ends in the checkout. */
  readonly checksum: string;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/**
 * Reads every migration of a folder, in order; by default of the one that belongs to this code.
 *
 * @throws StoreError `internal` for a broken build: the folder is missing, or its numbers have a gap or come twice
 */
export function readMigrations(folder: string | undefined = locateAsset(import.meta.url, 'migrations')): readonly Migration[] {
  if (folder === undefined) throw new StoreError('internal', 'the folder migrations/ is missing from this build of parley: build it again');
  const migrations = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const number = FILE_NAME.exec(file)?.[1];
      if (number === undefined) throw new StoreError('internal', `migration ${file}: name it like 0001_what_it_adds.sql`);
      const sql = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
      return {
        version: Number(number),
        name: file.slice(0, -'.sql'.length),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      };
    });
  migrations.forEach(({ version, name }, index) => {
    if (version !== index + 1)
      throw new StoreError('internal', `migration ${name}: the next number is ${String(index + 1).padStart(4, '0')}`);
  });
  return migrations;
}
