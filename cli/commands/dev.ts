import { Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import type { UseProviders } from '../providers/use-providers.ts';
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
  readonly provider?: readonly string[];
  readonly model?: string;
  readonly baseUrl?: string;
}

const PROVIDER_HELP = `
Keys are taken from the environment (OPENAI_API_KEY, DEEPGRAM_API_KEY, …), or asked for, and kept in Secrets of the stack only. It does not
matter whether the stack runs already. docs/first-agent.md has the providers, and what a minute costs.
${examples(
  'parley dev',
  'parley dev --detach --org acme',
  'parley dev --provider openai',
  'parley dev --provider openai,deepgram,elevenlabs',
  'parley dev --provider ollama --model qwen3',
  'parley dev --provider offline',
)}`;

export function registerDev(program: Command): void {
  const dev = program
    .command('dev')
    .description('run the whole platform with the servers it needs on this machine; data stay in .parley/')
    .option('--detach', 'return when the stack is ready, and leave it running')
    .option('--reset', 'delete all data first')
    .option('-n, --org <name>', 'organisation of the examples and of the API key (default: that of the last start, at first "demo")')
    .option('--provider <names>', 'use these real providers for the example agent, such as openai,deepgram; "offline" goes back', gathered)
    .option('--model <name>', 'language model of the provider')
    .option('--base-url <url>', 'address of the provider, for a server of your own')
    .option('--no-call', 'do not call the example agent at the first start')
    .option('--api-port <port>', 'port of the REST API (default: PARLEY_API_PORT, then the last one, then a free one)', portNumber)
    .option('--kube-port <port>', 'port of the Kubernetes API', portNumber)
    .option('--postgres-port <port>', 'port of Postgres', portNumber)
    .option('--temporal-port <port>', 'port of Temporal', portNumber)
    .option('--temporal-ui-port <port>', "port of Temporal's web interface", portNumber)
    .option('--receiver-port <port>', 'port of the webhook receiver', portNumber)
    .addOption(new Option('--ipc').hideHelp())
    .addHelpText('after', PROVIDER_HELP)
    .action(async (flags: DevFlags) => {
      const { startStack } = await import('../../local-stack/start.ts');
      const ports = wantedPorts(flags, process.env);
      // A detached supervisor starts the stack only: the command that the person has typed does the rest.
      const onUp = flags.ipc === true ? undefined : await providersOf(flags);
      await startStack({ folder: process.cwd(), env: process.env, flags, ports, onUp });
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

const gathered = (text: string, previous: readonly string[] = []): readonly string[] => [...previous, text];

/** Asks for the keys and checks them. The environment of what this process starts has no key any more. */
async function providersOf(flags: DevFlags): Promise<UseProviders | undefined> {
  const [{ chooseParts }, { askAtTerminal, forgetKeys }] = await Promise.all([
    import('../providers/choose-parts.ts'),
    import('../providers/read-keys.ts'),
  ]);
  const choice = chooseParts(flags);
  const env = { ...process.env };
  forgetKeys(process.env);
  if (choice === undefined) return undefined;
  const { prepareProviders } = await import('../providers/use-providers.ts');
  return prepareProviders(choice, { env, ask: askAtTerminal(process.stdin, process.stderr), out: process.stdout });
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
