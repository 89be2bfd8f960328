import type { Command } from 'commander';

import { UserError } from '../../../platform/user-error.ts';
import type { ApiFlags } from '../calls/api.ts';
import { formatOf, outputOption, type OutputFlags } from '../../output.ts';
import { addConnection, withConnection, type ConnectionFlags } from '../connection.ts';
import type { Io } from '../io.ts';

export interface ClusterTestFlags extends ConnectionFlags, ApiFlags, OutputFlags {
  readonly test?: readonly string[];
  readonly revision?: string;
  readonly junit?: string;
}

const AGENT = /^agents?(\.parley\.dev)?\//i;

/** Tells whether the argument is an agent of the cluster, `agent/receptionist`, and no file. */
export const isAgentOfCluster = (argument: string): boolean => AGENT.test(argument);

/** Adds the flags that `kubectl parley test` and `parley test agent/…` share. */
export function addClusterTestFlags(command: Command, options: { readonly presetOrganization?: boolean } = {}): Command {
  return addConnection(command, options)
    .option('--revision <revision>', 'desired: what the resources ask for; serving: what calls get; or a revision (default: desired)')
    .option('--api-key-secret <name[/key]>', 'Secret in the namespace that holds the API key (default: parley-api-key/apiKey)')
    .option('--api-url <url>', 'address of the REST API (default: PARLEY_URL, else through the API server)')
    .option('--api-service <namespace/name>', 'Service of the api (default: found by its labels)');
}

/** Tests one agent after the other. @returns whether all tests passed. @throws UserError */
export async function testAgents(agents: readonly string[], flags: ClusterTestFlags, io: Io): Promise<boolean> {
  const [{ openApi }, { testInCluster }] = await Promise.all([import('../calls/api.ts'), import('./run.ts')]);
  const names = agents.map(agentName);
  if (names.length > 1 && flags.junit !== undefined)
    throw new UserError('--junit takes the report of one agent', { cure: 'run the command once for each agent' });
  const { test: tests = [], revision = 'desired', junit } = flags;
  return withConnection(flags, io, async (connection) => {
    const api = await openApi(connection, flags, io, 'agents:write');
    let passed = true;
    for (const agent of names)
      passed = (await testInCluster(api, { agent, tests, revision, junit, format: formatOf(flags) }, io)) && passed;
    return passed;
  });
}

export function addTest(plugin: Command, io: Io): void {
  const several = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];
  addClusterTestFlags(plugin.command('test'))
    .description('run the AgentTests of an agent in the cluster, and wait for what comes of them')
    .argument('<agents...>', 'agent/<name>')
    .option('-t, --test <name>', 'only this AgentTest; may be repeated', several)
    .option('--junit <file>', "write a report in JUnit's format")
    .addOption(outputOption('the run as REST has it'))
    .addHelpText(
      'after',
      `
The tests run in the worker, with the models and keys of the cluster; those in audio mode are calls through the media server. The command asks
the REST API at PARLEY_URL or, without it, through the Kubernetes API server's proxy to the chart's Service; the key (permission agents:write) is
PARLEY_API_KEY or the key apiKey of the Secret parley-api-key in the namespace. Files are tested without a cluster by parley test <files>.

Exit codes: 0 all tests passed, 1 a test failed or could not be evaluated.

Examples:
  kubectl parley test agent/receptionist
  kubectl parley test agent/receptionist -t opening-hours --revision serving
`,
    )
    .action(async (agents: readonly string[], flags: ClusterTestFlags) => {
      io.exit((await testAgents(agents, flags, io)) ? 0 : 1);
    });
}

/** @throws UserError for an object of another kind */
function agentName(text: string): string {
  const name = text.replace(AGENT, '');
  if (name !== '' && !name.includes('/')) return name;
  throw new UserError(`"${text}" names no agent`, { cure: 'write agent/<name>, as in agent/receptionist' });
}
