/** Gives all commands of `parley` and `kubectl parley` what they share: help, exit codes, `--quiet`, completion. */
import { Command, CommanderError } from 'commander';

import { reportFailure } from '../platform/user-error.ts';
import { version } from '../platform/version.ts';
import { addCompletion, type CompletionOptions } from './completion/command.ts';
import { INTERRUPTED } from './interruptible.ts';
import { fitHelp } from './fit-help.ts';
import { commandsMeant } from './unknown-command.ts';

/** Exit code of a command that is written differently from its help. */
const WRONG_USAGE = 2;

/** Creates a program whose commands inherit its settings: add them to it. */
export function createProgram(name: string, description: string): Command {
  return (
    new Command(name)
      .description(description)
      .version(version, '-V, --version')
      // Descriptions wrap beside long names, too.
      .configureHelp({ minWidthToWrap: 20 })
      .configureOutput({
        writeOut: (text) => void process.stdout.write(fitHelp(text, (process.stdout.isTTY && process.stdout.columns) || 80)),
      })
      .enablePositionalOptions()
      .showHelpAfterError('(run with --help for what is allowed)')
      .exitOverride()
  );
}

/** Formats examples for `addHelpText('after', …)`. */
export function examples(...commands: readonly string[]): string {
  return `\nExamples:\n${commands.map((command) => `  ${command}\n`).join('')}`;
}

/**
 * Adds what needs to know all commands, when all are there.
 * @param options.elsewhere commands that it passes on, such as `kubectl status`
 */
export function completeProgram(
  program: Command,
  { elsewhere = [], ...completion }: CompletionOptions & { readonly elsewhere?: readonly string[] },
): Command {
  helpWithUnknownCommands(program, elsewhere);
  for (const command of commandsOf(program)) {
    const hasResult = command.commands.length === 0 && !command.options.some(({ long }) => long === '--quiet');
    if (hasResult && !SERVERS.has(command.name())) command.option('--quiet', 'print no progress, only results and failures');
  }
  addCompletion(program, completion);
  return program;
}

/** Adds the help at every depth: the meant command may stand elsewhere. */
function helpWithUnknownCommands(program: Command, elsewhere: readonly string[]): void {
  const all = commandsOf(program);
  const paths = [...all.filter(({ commands }) => commands.length === 0).map((command) => pathBelow(program, command)), ...elsewhere];
  for (const group of [program, ...all].filter(({ commands }) => commands.length > 0)) {
    group.on('command:*', (words: readonly string[]) => {
      const before = group === program ? [] : pathBelow(program, group).split(' ');
      const meant = commandsMeant(words, paths).map((path) => `${program.name()} ${path}`);
      const advice = meant.length === 0 ? '' : `\n  → ${meant.join(', ')}`;
      program.error(`${program.name()}: there is no command ${[...before, words[0]].join(' ')}${advice}`, {
        code: 'commander.unknownCommand',
      });
    });
  }
}

/** Returns `keys list`, for example. */
function pathBelow(program: Command, command: Command): string {
  const { parent } = command;
  return parent === null || parent === program ? command.name() : `${pathBelow(program, parent)} ${command.name()}`;
}

/** These commands write logs. */
const SERVERS: ReadonlySet<string> = new Set(['operator', 'api', 'worker', 'dispatcher', 'voice', 'kubectl']);

/** Returns the visible commands of a program, at every depth. */
export function commandsOf(program: Command): readonly Command[] {
  const visible = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help');
  return visible.concat(visible.flatMap(commandsOf));
}

/** Runs a program as the process does, up to its exit code. @param args without the program's own name */
export async function runProgram(program: Command, args: readonly string[], signal?: AbortSignal): Promise<void> {
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  program.hook('preAction', (_, command) => {
    if (command.opts<{ readonly quiet?: true }>().quiet === true) stderr.write = () => true;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    stderr.write = write;
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
    else process.exitCode = signal?.aborted === true ? INTERRUPTED : reportFailure(error, stderr);
  }
}
