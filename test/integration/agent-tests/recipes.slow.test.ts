/**
 * The tests of the recipes fail without a sentence of the prompt, or a tool, that the conversation needs; and their CI file and first commands
 * work as written.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { templateNames, templates } from '../../../cli/init/templates.ts';
import { suiteFolder, testFolder } from '../../support/folders.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { startHelpDeskServer } from '../../support/recipes/help-desk-server.ts';
import { HELP_DESK_URL, recipeFolder, recipes } from '../../support/recipes/recipes.ts';
import { standIn } from '../../support/recipes/stand-in.ts';
import { run } from '../../support/run.ts';
import { parley } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const provider = suiteFixture(startProviderServer);
const helpDesk = suiteFixture(startHelpDeskServer);
const root = suiteFolder();

const env = () => ({
  PARLEY_PROVIDERS: JSON.stringify([{ name: 'openai', baseURL: provider.url }]),
  OPENAI_API_KEY: 'none',
  PARLEY_SECRET_HELP_DESK_SERVER_AUTHORIZATION: 'Bearer none',
  PARLEY_TEST_JUDGE: undefined,
  KUBECONFIG: '/nowhere',
  NO_COLOR: '1',
});

describe.each(templateNames)('the recipe %s', (name) => {
  const folder = join(root, name);
  const files = readdirSync(join(recipeFolder(name), 'manifests'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => join(folder, 'manifests', file));
  const played = standIn(recipes[name]!);
  const live = () => {
    provider.chat(played.chat);
    return parleyHere(['test', '.', '--live'], env(), folder);
  };
  /** Runs the tests with another text in a file, and puts the former one back. */
  const liveWith = async (file: string, changed: string) => {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, changed);
    const done = await live();
    writeFileSync(file, text);
    return done;
  };

  it('passes its tests with a model that does what the prompt says', async () => {
    await cp(recipeFolder(name), folder, { recursive: true });
    const tools = join(folder, 'manifests/tools.yaml');
    writeFileSync(tools, readFileSync(tools, 'utf8').replaceAll(HELP_DESK_URL, helpDesk.url));
    const done = await live();
    expect([done.code, done.stderr, done.stdout]).toEqual([0, '', expect.stringContaining('6 passed, 0 failed')]);
  });

  it('fails them without any sentence that the model goes by', async () => {
    const sentences = [...played.told];
    expect(sentences.length).toBeGreaterThan(4);
    for (const sentence of sentences) {
      const file = files.find((each) => readFileSync(each, 'utf8').includes(sentence));
      expect([sentence, file]).toEqual([sentence, expect.any(String)]);
      const done = await liveWith(file!, readFileSync(file!, 'utf8').replace(sentence, ''));
      expect([sentence, done.code, done.stdout]).toEqual([sentence, 1, expect.stringMatching(/^[✗!] /m)]);
    }
  });

  it('fails them without any of its tools', async () => {
    const file = join(folder, 'manifests/tools.yaml');
    const tools = readFileSync(file, 'utf8').split('---\n');
    expect(tools.length).toBeGreaterThan(1);
    for (const tool of tools) {
      const done = await liveWith(file, tools.filter((each) => each !== tool).join('---\n'));
      expect([tool, done.code]).toEqual([tool, 1]);
    }
  });

  it('is tested by its CI file, and talked to as `parley init` says', async () => {
    const copy = testFolder();
    const bin = join(copy, '.bin');
    mkdirSync(bin);
    symlinkSync(parley, join(bin, 'parley'));
    // The stand-in does what `docker run … <image> …` does in the folder that it mounts: the image begins with parley.
    writeFileSync(join(bin, 'docker'), '#!/bin/sh\nwhile [ "$1" != "$IMAGE" ]; do shift; done\nshift\nexec parley "$@"\n', { mode: 0o755 });
    const shell = (line: string, more: Readonly<Record<string, string | undefined>>, input = '') =>
      run('bash', ['--norc', '-euc', line], { cwd: copy, env: { ...env(), PATH: `${bin}:${process.env['PATH']}`, ...more }, input });
    const made = await shell(`parley init --template ${name} .`, {});
    expect([made.code, made.stderr]).toEqual([0, '']);

    const workflow = readFileSync(join(copy, '.github/workflows/agents.yaml'), 'utf8');
    // A tag can be moved to code that nobody looked at.
    for (const [, action] of workflow.matchAll(/uses: (.*)$/gm)) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d/);
    const { jobs } = parse(workflow) as {
      readonly jobs: {
        readonly test: { readonly env: Readonly<Record<string, string>>; readonly steps: readonly { readonly run?: string }[] };
      };
    };
    const lines = jobs.test.steps.flatMap(({ run: line }) => line ?? []);
    expect(lines).toHaveLength(1);
    const replay = await shell(lines[0]!, { ...jobs.test.env, OPENAI_API_KEY: undefined, PARLEY_PROVIDERS: undefined });
    expect([replay.code, replay.stderr]).toEqual([0, '']);
    expect(readFileSync(join(copy, 'report.xml'), 'utf8')).toContain('tests="6" failures="0" errors="0"');

    const chat = made.stdout
      .split('\n')
      .find((line) => line.startsWith('  parley chat '))!
      .trim();
    expect(chat).toContain(templates[name].firstTest);
    const page = readFileSync(join(copy, 'README.md'), 'utf8');
    expect(page.split('\n')).toContain(chat);
    provider.chat(played.chat);
    const test = parse(readFileSync(join(copy, 'tests', `${templates[name].firstTest}.yaml`), 'utf8')) as {
      readonly spec: { readonly conversation: readonly { readonly user?: string; readonly keys?: string }[] };
    };
    const said = test.spec.conversation.map(({ user, keys }) => `${user ?? `/keys ${keys}`}\n`).join('');
    const talked = await shell(chat, {}, said);
    expect([talked.code, talked.stderr]).toEqual([0, '']);
    await rm(copy, { recursive: true, force: true });
  });
});
