/** `parley init` writes recipes whose recorded tests pass at once, also for an agent of another name. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { templateNames, templates } from '../../../cli/init/templates.ts';
import { testFolder } from '../../support/folders.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { recipeFolder, recipes } from '../../support/recipes/recipes.ts';

/** Has no key of a model, and no cluster. */
const env = { OPENAI_API_KEY: undefined, PARLEY_PROVIDERS: undefined, PARLEY_TEST_JUDGE: undefined, KUBECONFIG: '/nowhere', NO_COLOR: '1' };
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

it('has a script for each template', () => expect(Object.keys(recipes)).toEqual(templateNames));

describe.each(templateNames)('parley init --template %s', (template) => {
  const tests = readdirSync(join(recipeFolder(template), 'tests')).filter((file) => file.endsWith('.yaml')).length;

  it('writes the files of the recipe, whose tests pass without a key', async () => {
    const folder = testFolder();
    const made = await parleyHere(['init', '--template', template], env, folder);
    expect([made.code, made.stderr]).toEqual([0, '']);
    expect(filesBelow(join(folder, template))).toEqual(filesBelow(recipeFolder(template)));
    const replay = await parleyHere(['test', '.', '--replay'], env, join(folder, template));
    expect([replay.code, replay.stderr, replay.stdout]).toEqual([0, '', expect.stringContaining(`${tests} passed, 0 failed`)]);
  });
});

describe('parley init', () => {
  // One has recorded lists of tools, too, and a name that is a part of others.
  it.each(['help-desk', 'survey'])('names the agent of %s as it is told, and the tests still pass', async (template) => {
    const folder = testFolder();
    const made = await parleyHere(['init', '--template', template, '.', '--name', 'front-desk', '-o', 'json'], env, folder);
    expect(JSON.parse(made.stdout)).toEqual({ template, agent: 'front-desk', folder: '.', files: filesBelow(folder) });
    const replay = await parleyHere(['test', '.', '--replay', '--agent', 'front-desk'], env, folder);
    expect([replay.code, replay.stderr, replay.stdout]).toEqual([0, '', expect.stringContaining('6 passed, 0 failed')]);
    const commands = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^parley (?:chat|call) (\S+)/gm)];
    expect(new Set(commands.map(([, agent]) => agent))).toEqual(new Set(['front-desk']));
  });

  it('says what to type next, which works', async () => {
    const folder = testFolder();
    const { stdout } = await parleyHere(['init', '--template', 'dentist', 'desk'], env, folder);
    expect(stdout).toBe(`${filesBelow(recipeFolder('dentist')).length} files are in desk

  cd desk
  parley test . --replay            # recorded answers: no key, no network
  export OPENAI_API_KEY=sk-…
  parley chat dentist . -t ${templates.dentist.firstTest}

README.md says how to apply the agent, and how to change it.
`);
    const here = await parleyHere(['init', '--template', 'bank', '.'], env, folder);
    expect(here.stdout).not.toContain('cd ');
  });

  it('replaces no file, and writes none where one is there', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'README.md'), 'mine');
    writeFileSync(join(folder, 'secrets.yaml'), 'mine');
    const refused = await parleyHere(['init', '--template', 'survey', '.'], env, folder);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      'parley: . has README.md, secrets.yaml already, so nothing was written\n  → name another folder, or move these files away\n',
    ]);
    expect(filesBelow(folder)).toEqual(['README.md', 'secrets.yaml']);
    await parleyHere(['init', '--template', 'survey'], env, folder);
    const again = await parleyHere(['init', '--template', 'survey'], env, folder);
    expect(again.stderr).toMatch(/^parley: survey has \.github\/workflows\/agents\.yaml, .* and \d+ more already, so nothing was written/);
  });

  it.each([
    [
      ['init'],
      'parley: choose a template: dentist, restaurant, bank, survey, help-desk, bangla-shop, front-desk\n  → parley init --template dentist\n',
    ],
    [['init', '--template', 'dentst'], "argument 'dentst' is invalid. did you mean dentist? The templates are dentist, restaurant, bank"],
    [
      ['init', '--template', 'spaceship'],
      "argument 'spaceship' is invalid. there is no such template. The templates are dentist, restaurant",
    ],
    [['init', '--template', 'toString'], 'there is no such template'],
    [['init', '--template', 'bank', '--name', 'My Bank'], 'use 1 to 63 lower-case letters, digits and hyphens'],
  ])('refuses %j as a usage error', async (args, message) => {
    const folder = testFolder();
    const refused = await parleyHere(args, env, folder);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(filesBelow(folder)).toEqual([]);
  });

  it('names the file where the folder is one', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'desk'), '');
    const refused = await parleyHere(['init', '--template', 'bank', 'desk'], env, folder);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/failed to write into desk: .*\n {2}→ name another folder/)]);
  });

  it('lists the templates in its help', async () => {
    const { stdout } = await parleyHere(['init', '--help'], env);
    for (const name of templateNames) expect(stdout).toContain(`  ${name.padEnd(11)}  ${templates[name].shows}\n`);
  });
});
