import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { eventually } from '../test/support/eventually.ts';
import { testFolder } from '../test/support/folders.ts';
import { commandLine } from './processes.ts';

it('ends the components of a supervisor that was killed, and removes its files', async () => {
  const folder = testFolder();
  const script = `
    import { Supervisor } from ${JSON.stringify(new URL('supervisor.ts', import.meta.url).href)};
    const component = (name) => ({ name, dependsOn: [], command: () => ({ file: '/bin/sh', args: ['-c', 'while :; do sleep 0.1; done # ' + name] }), check: async () => true });
    const supervisor = new Supervisor({ components: [component('one'), component('two')], logDir: ${JSON.stringify(folder)}, runDir: ${JSON.stringify(folder)}, ownedFiles: [${JSON.stringify(join(folder, 'dev.env'))}] });
    await supervisor.start();
    console.log('up');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const pids = ['one', 'two'].map((name) => Number(readFileSync(join(folder, `${name}.pid`), 'utf8')));
  for (const pid of pids) expect(await commandLine(pid)).toContain('sleep 0.1');

  writeFileSync(join(folder, 'dev.env'), 'A=b');
  child.kill('SIGKILL');
  for (const pid of pids) {
    await eventually(async () => {
      expect(await commandLine(pid)).toBeUndefined();
    });
  }
  expect(existsSync(join(folder, 'dev.env'))).toBe(false);
});
