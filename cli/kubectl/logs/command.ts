import { InvalidArgumentError, Option, type Command } from 'commander';

import { addConnection } from '../connection.ts';
import { parseDuration, wholeNumber } from '../../options.ts';
import type { Io } from '../io.ts';
import { levels } from './line.ts';
import type { LogsFlags } from './run.ts';

const HELP = `
Reads the logs of the operator, api, worker, dispatcher and voice pods through the API server (permission: get pods/log in the
namespace of the installation), keeps the lines about the agent and the calls it has had, and sorts them by time. With the local
stack it reads the files of \`parley dev\`.

Examples:
  kubectl parley logs receptionist
  kubectl parley logs receptionist --since 10m --level warn
  kubectl parley logs receptionist --call 0198c9e4-… -o json | jq .
  kubectl parley logs receptionist --follow
`;

export function addLogs(plugin: Command, io: Io): void {
  const command = plugin
    .command('logs')
    .description('print the log lines of all roles about an agent and its calls, sorted by time')
    .argument('<agent>', 'name of the agent', agentName)
    .option('--since <time>', 'only lines of the last 90s, 10m, 2h, … (default: 1h; with --call: all)', parseDuration)
    .option('-f, --follow', 'print new lines until Ctrl-C')
    .option('--call <id>', 'only lines about this call')
    .addOption(new Option('--level <level>', 'lowest level').choices(levels).default('trace', 'all of them'))
    .option('--tail <count>', 'only this many of the last lines', wholeNumber(1, 999_999_999))
    .addOption(new Option('-o, --output <format>', 'json: the lines as they were written').choices(['json']));
  addConnection(command)
    .addHelpText('after', HELP)
    .action(async (agent: string, flags: LogsFlags) => {
      const { runLogs } = await import('./run.ts');
      await runLogs(agent, flags, io);
    });
}

/** Accepts `receptionist`, or `agent/receptionist` as everywhere else. */
function agentName(text: string): string {
  const name = text.replace(/^agents?(\.parley\.dev)?\//i, '');
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) return name;
  throw new InvalidArgumentError('use the name of an agent, as `kubectl get agents.parley.dev` shows it.');
}
