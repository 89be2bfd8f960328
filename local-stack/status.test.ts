import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { run } from '../test/support/run.ts';
import { parleyEntry } from '../test/support/stack.ts';

it('is not that of a ready stack while a component starts again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-status-'));
  // The process has the command line of a supervisor.
  const supervisor = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)', 'cli/main.ts', 'dev'], { stdio: 'ignore' });
  onTestFinished(() => {
    supervisor.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, '.parley/run'), { recursive: true });
  writeFileSync(join(folder, '.parley/supervisor.pid'), `${supervisor.pid}\n`);
  writeFileSync(join(folder, '.parley/dev.env'), 'PARLEY_URL=http://127.0.0.1:1\nPARLEY_ORG=demo\nPARLEY_BIN=/nowhere\n');
  const statusWith = async (state: string) => {
    const components = [{ name: 'api', state, restarts: 1 }];
    writeFileSync(join(folder, '.parley/run/state.json'), JSON.stringify({ components }));
    const { code, stdout } = await run(process.execPath, [parleyEntry, 'dev', 'status'], { cwd: folder });
    return [code, ...stdout.split('\n').slice(0, 2)];
  };
  const where = `The stack in ${folder}`;
  expect(await statusWith('ready')).toEqual([0, `${where} is up (process ${supervisor.pid}).`, expect.stringContaining('✓ api')]);
  expect(await statusWith('starting')).toEqual([1, `${where} is up (process ${supervisor.pid}).`, expect.stringContaining('! api')]);
});
