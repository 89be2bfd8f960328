/** What the README and the tour print works as printed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, inject, it } from 'vitest';

import { run } from '../support/run.ts';
import { repository } from '../support/stack.ts';

const { folder } = inject('stack');

/** Shell commands of the README's tour, block by block. */
async function tourBlocks(): Promise<string[]> {
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  const tour = readme.slice(readme.indexOf('## A tour in five minutes'), readme.indexOf('## Where next'));
  return [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]!);
}

it("the README's tour runs from top to bottom", async () => {
  const blocks = await tourBlocks();
  expect(blocks.length).toBeGreaterThan(5);
  // One shell, as a reader has it. `explain` of a broken agent exits 1 on purpose.
  const script = blocks
    .map((block) => block.replaceAll('bin/parley', `${repository}/bin/parley`).replace(/^(parley explain .*)$/m, '$1 || true'))
    .join('\necho "--- next"\n');
  const toured = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder });
  expect(toured.code, toured.stderr).toBe(0);

  const [, looked, made, equipped, changed, refused, found, explained] = toured.stdout.split('--- next\n');
  expect(looked).toMatch(/agent\.parley\.dev\/\S+ +True/);
  expect(looked).toContain('"data":[');
  expect(made).toContain('"ai_agent_id":"agent-');
  expect(made).toContain('"api_key":"********"');
  expect(made).toContain('gpt-4o-mini');
  expect(equipped).toMatch(/"tool_id":"tool-.*"Authorization":"\*{8}"/);
  expect(equipped).toContain('"provider":"sip"');
  expect(equipped).toMatch(/tool\.parley\.dev\/tool-\S+ .*find_booking/);
  expect(equipped).toMatch(/phonenumber\.parley\.dev\/pn-/);
  expect(changed).toContain('"welcome_message":"Welcome back!"');
  expect(refused).toMatch(/"error":"conflict".*kubectl/);
  expect(found).toMatch(/bicycle-care\.pdf, page 2 .*When to replace it/);
  expect(found).toMatch(/"filename":"price-list\.xlsx".*"sheet":"Parts"/);
  expect(explained).toMatch(/missing/);
});

it("parley dev's own tour works as printed", async () => {
  const status = await run(join(repository, 'bin/parley'), ['dev', 'status'], { cwd: folder });
  const commands = status.stdout
    .split('\n')
    .map((line) => line.trim().replace(/^\$ /, ''))
    .filter((line) => /^(kubectl|curl|parley) /.test(line));
  expect(commands.filter((command) => command.startsWith('kubectl'))).toHaveLength(3);
  expect(commands.filter((command) => command.startsWith('curl'))).toHaveLength(3);
  expect(commands.filter((command) => command.startsWith('parley'))).toHaveLength(1);
  for (const command of commands) {
    const ran = await run('bash', ['-euc', `eval "$(${repository}/bin/parley env)"; ${command}`], { cwd: folder });
    expect(ran.code, `${command}\n${ran.stderr}`).toBe(0);
    expect(ran.stdout).not.toMatch(/"error"|"detail"/);
  }
});
