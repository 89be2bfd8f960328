import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { findProgram } from './postgres-programs.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

/** Runs until it is ended; writes its process id into `started`. */
const PROGRAM = `#!/bin/sh
if [ "$1" = --version ]; then echo "pg_dump (PostgreSQL) 18.1"; exit; fi
echo $$ > "$STARTED"
exec sleep 3600
`;

it('ends the program when it is interrupted, and waits for its end', async () => {
  await writeFile(join(folder, 'pg_dump'), PROGRAM, { mode: 0o755 });
  const started = join(folder, 'started');
  const controller = new AbortController();
  const env = { PATH: `${folder}:/usr/bin:/bin`, STARTED: started };
  const databaseUrl = 'postgres://parley@127.0.0.1:1/parley';
  const program = await findProgram({ name: 'pg_dump', serverVersion: 18, databaseUrl, env, signal: controller.signal });
  const run = program.run([]);
  const pid = await expect
    .poll(() => readFile(started, 'utf8').catch(() => ''))
    .toMatch(/^\d+\n$/)
    .then(() => readFile(started, 'utf8'));
  controller.abort();
  await expect(run).rejects.toThrow('abort');
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});
