import { describe, expect, it } from 'vitest';

import { parleyHere } from '../test/support/parley-command.ts';
import { PLUGIN_COMMANDS } from './commands/kubectl.ts';
import { createPlugin } from './kubectl/main.ts';
import { processIo } from './kubectl/io.ts';
import { createParley } from './program.ts';
import { commandsMeant } from './unknown-command.ts';

const commands = ['test', 'keys list', 'keys create', 'webhooks list', 'webhooks deliveries', 'export', 'kubectl status', 'kubectl logs'];

describe('what is meant by', () => {
  it.each([
    [['list', 'keys'], ['keys list']],
    [['deliveries', 'call-log'], ['webhooks deliveries']],
    [['status'], ['kubectl status']],
    [['statsu'], ['kubectl status']],
    [['log'], ['kubectl logs']],
    [['exprot'], ['export']],
    [
      ['key', 'list'],
      ['keys list', 'keys create'],
    ],
    [['list'], ['keys list', 'webhooks list']],
    [['frobnicate'], []],
  ])('%j is %j', (words, meant) => {
    expect(commandsMeant(words, commands)).toEqual(meant);
  });
});

it.each([
  [['status'], 'parley: there is no command status\n  → parley dev status, parley kubectl status\n'],
  [['list', 'keys', '--org', 'acme'], 'parley: there is no command list\n  → parley keys list\n'],
  [['webhooks', 'deliverys', 'x'], 'parley: there is no command webhooks deliverys\n  → parley webhooks deliveries\n'],
  [['kubectl', 'keys'], 'kubectl parley: there is no command keys\n'],
])('%j says so, and ends with 2', async (args, said) => {
  const done = await parleyHere(args, {});
  expect([done.code, done.stdout]).toEqual([2, '']);
  expect(done.stderr).toContain(said);
});

it('knows each command that only the plugin has', () => {
  const own = new Set(createParley().commands.map((command) => command.name()));
  const plugin = createPlugin(processIo(new AbortController().signal)).commands.map((command) => command.name());
  expect(PLUGIN_COMMANDS.toSorted()).toEqual(
    plugin.flatMap((name) => (own.has(name) || name.startsWith('_') ? [] : [`kubectl ${name}`])).toSorted(),
  );
});
