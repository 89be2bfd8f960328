/** Runs the plugin from the bundle, as `make up`, the image and a folder on PATH have it: what esbuild changes shows nowhere else. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { anAgent } from '../../support/builders.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { run } from '../../support/run.ts';
import { repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startPlugin } from './plugin.ts';

const plugin = suiteFixture(startPlugin);
let org: string;

beforeAll(async () => {
  // bin/parley prefers a bundle to the sources.
  const dist = join(dirname(plugin.bin), 'dist');
  expect(await run(process.execPath, ['scripts/build.ts', dist], { cwd: repository })).toMatchObject({ code: 0, stderr: '' });
  org = await organizationNamespace('bundle');
  await plugin.put(anAgent('reception', org));
});

describe('kubectl parley from the bundle', () => {
  it.each([
    ['status', ['status', '-o', 'yaml']],
    ['explain', ['explain', 'agent/reception', '-o', 'yaml']],
  ])('%s prints YAML', async (_, args) => {
    const { code, stdout, stderr } = await plugin.kubectl(['parley', ...args, '-n', org]);
    // The code is 1, because no operator makes the agent ready here.
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.stringify(parse(stdout))).toContain('reception');
  });

  it('makes a report', async () => {
    const file = join(plugin.folder, 'bundle.tar.gz');
    const { code, stdout, stderr } = await plugin.kubectl(['parley', 'report', '-n', org, '--no-logs', '--file', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`resources/${org}/agents.yaml`);
    expect((await stat(file)).size).toBeGreaterThan(0);
  });
});
