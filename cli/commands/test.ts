import { Option, type Command } from 'commander';

import { wholeNumber } from '../options.ts';

interface TestFlags {
  readonly agent?: readonly string[];
  readonly test?: readonly string[];
  readonly junit?: string;
  readonly output: 'text' | 'json';
  readonly record?: true;
  readonly replay?: true;
  readonly live?: true;
  readonly watch?: true;
  readonly concurrency: number;
  readonly repeat?: number;
}

const help = `
Reads agents, tools, tests and ConfigMaps from YAML files. It needs no cluster and no servers: the agent's model is asked, or its recorded answers
are taken. Keys come from OPENAI_API_KEY and its like, from PARLEY_SECRET_<NAME>_<KEY> for the key of a Secret, or from Secrets in the files.

Answers of models are recorded in a folder cassettes next to each test. Without --record, --replay or --live a recorded answer is taken where there is
one, and the model is asked otherwise.

Exit codes: 0 all tests passed, 1 a test failed or could not be evaluated, 2 nothing was run: a file or an option is wrong.

Examples:
  parley test .
  parley test agents tests -t opening-hours --watch
  parley test . --record
  parley test . --replay --junit report.xml
`;

export function registerTest(program: Command): void {
  const several = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];
  program
    .command('test')
    .description('test agents of YAML files, without a cluster')
    .argument('<paths...>', 'files and folders with Agents, Tools and AgentTests')
    .option('--agent <name>', 'only tests of this agent; may be repeated', several)
    .option('-t, --test <name>', 'only this test; may be repeated', several)
    .option('--junit <file>', "write a report in JUnit's format")
    .addOption(new Option('-o, --output <format>', 'how results are printed').choices(['text', 'json']).default('text'))
    .addOption(new Option('--record', 'ask the models, and record their answers').conflicts(['replay', 'live']))
    .addOption(
      new Option('--replay', 'take recorded answers only; a request that is not recorded is an error').conflicts(['record', 'live']),
    )
    .addOption(new Option('--live', 'ask the models, and neither read nor write recordings').conflicts(['record', 'replay']))
    .addOption(new Option('--watch', 'run the tests that a change affects again after each change').conflicts('output'))
    .option('--concurrency <number>', 'conversations at a time', wholeNumber(1, 64), 4)
    .option('--repeat <number>', 'attempts of each test, all of which have to pass, in place of what the test says', wholeNumber(1, 1000))
    .addHelpText('after', help)
    // Nothing was run: not to be taken for a test that failed.
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .action(async (paths: readonly string[], flags: TestFlags) => {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      process.once('SIGTERM', () => stop.abort());
      const [{ EXIT, exitCodeOf, TestCommand, TestUsageError }, { processIo }, { reportFailure }] = await Promise.all([
        import('../agent-tests/run-command.ts'),
        import('../kubectl/io.ts'),
        import('../../platform/user-error.ts'),
      ]);
      const io = processIo(stop.signal);
      const mode = flags.record ? 'record' : flags.replay ? 'replay' : flags.live ? 'live' : 'auto';
      const { agent: agents = [], test: tests = [], junit, concurrency, repeat } = flags;
      let code: number = EXIT.passed;
      try {
        const command = new TestCommand({ paths, agents, tests, junit, json: flags.output === 'json', mode, concurrency, repeat }, io);
        if (flags.watch) await (await import('../agent-tests/watch.ts')).watchTests(command, paths, io);
        else {
          const { workspace, pairs } = await command.load();
          code = exitCodeOf(await command.run(workspace, pairs));
        }
        command.close();
      } catch (error) {
        if (stop.signal.aborted) code = EXIT.interrupted;
        else
          code =
            error instanceof TestUsageError || (error as Error).name === 'ConfigError'
              ? (reportFailure(error, process.stderr), EXIT.usage)
              : reportFailure(error, process.stderr);
      }
      // The media library keeps threads that would not end by themselves.
      await new Promise((resolve) => process.stdout.write('', resolve));
      process.exit(code);
    });
}
