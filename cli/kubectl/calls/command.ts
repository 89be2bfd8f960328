import { Option, type Command } from 'commander';

import { addConnection, withConnection, type ConnectionFlags } from '../connection.ts';
import { wholeNumber } from '../../options.ts';
import type { Io } from '../io.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../../output.ts';
import { styleOf } from '../style.ts';
import type { Api, ApiFlags } from './api.ts';
import { callStatuses, type CallStatus } from '../../../store/calls/call-state.ts';
import { MAX_CALLS, type ListCallsOptions } from './read.ts';

interface CallsFlags extends ConnectionFlags, OutputFlags, ApiFlags {
  readonly agent?: string;
  readonly status?: CallStatus | 'live';
  readonly limit: number;
  readonly watch?: true;
  readonly cost?: true;
}

const HELP = `
Calls are in Postgres, not in the cluster; reading them takes an API key of the organisation (permission calls:read). The command asks
the REST API at PARLEY_URL or, without it, through the Kubernetes API server's proxy to the chart's Service. The key is PARLEY_API_KEY
or, without it, the key apiKey of the Secret parley-api-key in the namespace. --context and --kubeconfig make the command ignore both
variables, which belong to the cluster that the shell was set up for.

Examples:
  kubectl parley calls
  kubectl parley calls --agent receptionist --status live --watch
  kubectl parley calls --cost
  kubectl parley calls -n acme --api-key-secret support/apiKey -o wide
  kubectl parley calls 0198c9e4-7b1e-7c2f-a2b5-3f1a1f6a9c11
`;

export function addCalls(plugin: Command, io: Io): void {
  const command = plugin
    .command('calls')
    .description('list live and recent calls of the organisation; with an id, show that call and its transcript')
    .argument('[id]', 'id of a call')
    .option('--agent <name>', 'only calls of this agent')
    .addOption(new Option('--status <state>', 'only calls in this state; live: registered and ongoing').choices(['live', ...callStatuses]))
    .option('--limit <count>', `maximum number of calls, up to ${MAX_CALLS}`, wholeNumber(1, MAX_CALLS), 20)
    .option('-w, --watch', 'keep running, and print a call again when its state changes')
    .option('--cost', 'what each call has cost, and sums of the last 30 days by agent and day')
    .option('--api-key-secret <name[/key]>', 'Secret in the namespace that holds the API key (default: parley-api-key/apiKey)')
    .option('--api-url <url>', 'address of the REST API (default: PARLEY_URL, else through the API server)')
    .option('--api-service <namespace/name>', 'Service of the api (default: found by its labels)');
  addOutput(addConnection(command), 'as the REST API has them; wide: more columns')
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, flags: CallsFlags) => {
      const { openApi } = await import('./api.ts');
      await withConnection(flags, io, async (connection) => {
        const api = await openApi(connection, flags, io);
        if (id !== undefined) await showCall(api, id, flags, io);
        else if (flags.cost === true) await showCosts(api, flags, io);
        else if (flags.watch === true) await watchCalls(api, flags, io);
        else await showCalls(api, flags, io);
      });
    });
}

async function showCall(api: Api, id: string, flags: CallsFlags, io: Io): Promise<void> {
  const [{ readCall }, { printCall }] = await Promise.all([import('./read.ts'), import('./print.ts')]);
  const call = await readCall(api, id);
  await writeAs(io, formatOf(flags), call, () => printCall(call, { style: styleOf(io), now: io.now() }));
}

async function showCalls(api: Api, flags: CallsFlags, io: Io): Promise<void> {
  const [{ listCalls }, { callsTable }] = await Promise.all([import('./read.ts'), import('./print.ts')]);
  const calls = await listCalls(api, filterOf(flags));
  const format = formatOf(flags);
  if (calls.length === 0 && (format === 'table' || format === 'wide')) io.err.write('parley: no calls\n');
  else await writeAs(io, format, { calls }, (wide) => callsTable(calls, { wide, now: io.now() }));
}

async function showCosts(api: Api, flags: CallsFlags, io: Io): Promise<void> {
  const [{ listCalls }, { costTable, readCosts, sumTables }] = await Promise.all([import('./read.ts'), import('./cost.ts')]);
  const filter = filterOf(flags);
  const [calls, sums] = await Promise.all([listCalls(api, filter), readCosts(api, filter)]);
  await writeAs(io, formatOf(flags), { calls, ...sums }, () => `${costTable(calls)}\n${sumTables(sums)}`);
}

async function watchCalls(api: Api, flags: CallsFlags, io: Io): Promise<void> {
  const [{ watch }, { listCalls }] = await Promise.all([import('./watch.ts'), import('./read.ts')]);
  await watch({ list: () => listCalls(api, filterOf(flags)), format: formatOf(flags), io });
}

function filterOf({ agent, status, limit: most }: CallsFlags): ListCallsOptions {
  return { agent: agent?.replace(/^agents?(\.parley\.dev)?\//i, ''), status, limit: most };
}
