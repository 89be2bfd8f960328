import { Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import type { PortName, Ports } from '../../local-stack/settings.ts';
import { UserError } from '../../platform/user-error.ts';
import { portNumber } from '../options.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../output.ts';

interface DevFlags {
  readonly detach?: true;
  readonly reset?: true;
  readonly org?: string;
  readonly ipc?: true;
  /** This is false with `--no-call`. */
  readonly call: boolean;
  readonly apiPort?: number;
  readonly kubePort?: number;
  readonly postgresPort?: number;
  readonly temporalPort?: number;
  readonly temporalUiPort?: number;
  readonly receiverPort?: number;
}

export function registerDev(program: Command): void {
  const dev = program
    .command('dev')
    .description('run the whole platform with the servers it needs on this machine; data stay in .parley/')
    .option('--detach', 'return when the stack is ready, and leave it running')
    .option('--reset', 'delete all data first')
    .option('-n, --org <name>', 'organisation of the examples and of the API key (default: that of the last start, at first "demo")')
    .option('--no-call', 'do not call the example agent at the first start')
    .option('--api-port <port>', 'port of the REST API (default: PARLEY_API_PORT, then the last one, then a free one)', portNumber)
    .option('--kube-port <port>', 'port of the Kubernetes API', portNumber)
    .option('--postgres-port <port>', 'port of Postgres', portNumber)
    .option('--temporal-port <port>', 'port of Temporal', portNumber)
    .option('--temporal-ui-port <port>', "port of Temporal's web interface", portNumber)
    .option('--receiver-port <port>', 'port of the webhook receiver', portNumber)
    .addOption(new Option('--ipc').hideHelp())
    .addHelpText('after', examples('parley dev', 'parley dev --detach --org acme'))
    .action(async (flags: DevFlags) => {
      const { startStack } = await import('../../local-stack/start.ts');
      await startStack({ folder: process.cwd(), env: process.env, flags, ports: wantedPorts(flags, process.env) });
    });

  dev
    .command('stop')
    .description('stop the stack of this folder')
    .addHelpText('after', examples('parley dev stop'))
    .action(async () => {
      const { stopStack } = await import('../../local-stack/stop.ts');
      await stopStack(process.cwd());
    });

  addOutput(dev.command('status'))
    .description('show the components of the stack of this folder, its addresses and what to try; exit code 0 when it is ready')
    .addHelpText('after', examples('parley dev status'))
    .action(async (flags: OutputFlags) => {
      const { readStatus, statusText } = await import('../../local-stack/status.ts');
      const status = await readStatus(process.cwd());
      await writeAs({ out: process.stdout }, formatOf(flags), status, () => statusText(process.cwd(), status));
      process.exitCode = status.ready ? 0 : 1;
    });
}

function wantedPorts(flags: DevFlags, env: NodeJS.ProcessEnv): Partial<Ports> {
  const wanted: Partial<Record<PortName, number>> = {};
  const take = (name: PortName, flag: number | undefined, variable = ''): void => {
    const text = env[variable] ?? '';
    const value = flag ?? (text === '' ? undefined : portOf(variable, text));
    if (value !== undefined) wanted[name] = value;
  };
  take('api', flags.apiPort, 'PARLEY_API_PORT');
  take('operator', undefined, 'PARLEY_OPERATOR_PORT');
  take('worker', undefined, 'PARLEY_WORKER_PORT');
  take('dispatcher', undefined, 'PARLEY_DISPATCHER_PORT');
  take('voice', undefined, 'PARLEY_VOICE_PORT');
  take('kube-apiserver', flags.kubePort);
  take('postgres', flags.postgresPort);
  take('temporal', flags.temporalPort);
  take('temporal-ui', flags.temporalUiPort);
  take('receiver', flags.receiverPort);
  return wanted;
}

function portOf(variable: string, text: string): number {
  try {
    return portNumber(text);
  } catch (cause) {
    throw new UserError(`${variable} is ${JSON.stringify(text)}: ${(cause as Error).message}`, { cause });
  }
}
