/** The repository in examples/agents-as-code works as its CI files and the page "Test your agent" say. */
import { cp, readFile, rm, symlink, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { suiteFolder } from '../../support/folders.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { run } from '../../support/run.ts';
import { parley, repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { KEY, shop } from './test-folder.ts';

const folder = suiteFolder();
const provider = suiteFixture(startProviderServer);

beforeAll(async () => {
  await cp(join(repository, 'examples/agents-as-code'), folder, { recursive: true });
  await mkdir(join(folder, 'bin'));
  await symlink(parley, join(folder, 'bin/parley'));
  // The stand-in does what `docker run … <image> …` does in the folder that it mounts: the image begins with parley.
  await writeFile(join(folder, 'bin/docker'), '#!/bin/sh\nwhile [ "$1" != "$IMAGE" ]; do shift; done\nshift\nexec parley "$@"\n', {
    mode: 0o755,
  });
  provider.chat((request) =>
    request.lastUser.includes('opening hours') ? 'We are open from nine to six, Monday to Friday.' : shop(request),
  );
});

const withModel = () => ({
  PARLEY_PROVIDERS: JSON.stringify([{ name: 'openai', baseURL: provider.url }]),
  OPENAI_API_KEY: KEY,
});
const shell = (line: string, env: Readonly<Record<string, string | undefined>> = {}, input = '') =>
  run('bash', ['--norc', '-euc', line], {
    cwd: folder,
    env: { OPENAI_API_KEY: undefined, PARLEY_PROVIDERS: undefined, PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, ...env },
    input,
  });

describe('the repository', () => {
  it('is recorded once', async () => {
    const done = await shell('parley test . --record', withModel());
    expect([done.code, done.stderr, done.stdout]).toEqual([0, '', expect.stringContaining('3 passed, 0 failed')]);
  });

  it('is tested by its GitHub workflow', async () => {
    const text = await readFile(join(folder, '.github/workflows/agents.yaml'), 'utf8');
    // A tag can be moved to code that nobody looked at.
    for (const [, action] of text.matchAll(/uses: (.*)$/gm)) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d/);
    const workflow = parse(text) as {
      readonly jobs: {
        readonly test: {
          readonly env: Readonly<Record<string, string>>;
          readonly steps: readonly { readonly run?: string; readonly env?: object }[];
        };
      };
    };
    const lines = workflow.jobs.test.steps.flatMap(({ run: line, env }) => (line === undefined ? [] : [{ line, key: env !== undefined }]));
    expect(lines.map(({ key }) => key)).toEqual([false, true]);
    for (const { line, key } of lines) {
      await rm(join(folder, 'report.xml'), { force: true });
      const done = await shell(line, { ...workflow.jobs.test.env, ...(key && withModel()) });
      expect([done.code, done.stderr]).toEqual([0, '']);
      expect(await readFile(join(folder, 'report.xml'), 'utf8')).toContain('tests="3" failures="0" errors="0"');
    }
  });

  it('is tested by its GitLab pipeline, and fails there with a bad prompt', async () => {
    const pipeline = parse(await readFile(join(folder, '.gitlab-ci.yml'), 'utf8')) as Readonly<
      Record<'replay' | 'live', { readonly script: readonly string[] }>
    >;
    for (const line of pipeline.replay.script) expect((await shell(line)).code).toBe(0);
    for (const line of pipeline.live.script) expect((await shell(line, withModel())).code).toBe(0);
    const file = join(folder, 'agents/receptionist.yaml');
    const good = await readFile(file, 'utf8');
    await writeFile(file, good.replace('never guess', 'guess'));
    const [line = ''] = pipeline.replay.script;
    const done = await shell(line);
    await writeFile(file, good);
    expect([done.code, done.stdout]).toEqual([
      1,
      expect.stringMatching(/the system prompt has changed: it was "[^"]*never guess\." and is "[^"]*and guess\."/),
    ]);
  });

  it('is used as its page says', async () => {
    const page = await readFile(join(repository, 'docs/agents/testing.md'), 'utf8');
    const blocks = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
    const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith('parley '));
    expect(lines.length).toBeGreaterThan(6);
    for (const line of lines.filter((one) => !one.includes('--watch'))) {
      const done = await shell(line, withModel(), 'Where is my order 42?\nThanks, bye!\n');
      expect([line, done.code, done.stderr.replace(/saved as .*\n/, '')]).toEqual([line, 0, '']);
    }
  });
});
