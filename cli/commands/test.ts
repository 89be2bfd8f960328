import { Option, type Command } from 'commander';

import { endOfProcess, interruptible, INTERRUPTED } from '../interruptible.ts';
import { wholeNumber } from '../options.ts';
import { formatOf, outputOption } from '../output.ts';
import { addClusterTestFlags, isAgentOfCluster, testAgents, type ClusterTestFlags } from '../kubectl/test/command.ts';

interface TestFlags extends ClusterTestFlags {
  readonly agent?: readonly string[];
  readonly record?: true;
  readonly replay?: true;
  readonly live?: true;
  readonly watch?: true;
  readonly concurrency: number;
  readonly repeat?: number;
}

const HELP = `
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
  parley test agent/receptionist -n acme   # in the cluster, as kubectl parley test does
`;

export function registerTest(program: Command): void {
  const several = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];
  addClusterTestFlags(program.command('test'))
    .description('test agents of YAML files, without a cluster')
    .argument('<paths...>', 'files and folders with Agents, Tools and AgentTests; agent/<name> for an agent of the cluster')
    .option('--agent <name>', 'only tests of this agent; may be repeated', several)
    .option('-t, --test <name>', 'only this test; may be repeated', several)
    .option('--junit <file>', "write a report in JUnit's format")
    .addOption(outputOption('all results, with every attempt that is kept'))
    .addOption(new Option('--record', 'ask the models, and record their answers').conflicts(['replay', 'live']))
    .addOption(
      new Option('--replay', 'take recorded answers only; a request that is not recorded is an error').conflicts(['record', 'live']),
    )
    .addOption(new Option('--live', 'ask the models, and neither read nor write recordings').conflicts(['record', 'replay']))
    .addOption(new Option('--watch', 'run the tests that a change affects again after each change').conflicts('output'))
    .option('--concurrency <number>', 'conversations at a time', wholeNumber(1, 64), 4)
    .option('--repeat <number>', 'attempts of each test, all of which have to pass, in place of what the test says', wholeNumber(1, 1000))
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], flags: TestFlags) => {
      const { exitCodeOf, TestCommand, TestUsageError } = await import('../agent-tests/run-command.ts');
      const mode = flags.record ? 'record' : flags.replay ? 'replay' : flags.live ? 'live' : 'auto';
      const { agent: agents = [], test: tests = [], junit, concurrency, repeat } = flags;
      await interruptible(async (io) => {
        if (paths.some(isAgentOfCluster)) {
          if (!paths.every(isAgentOfCluster)) throw new TestUsageError('files and agents of the cluster are tested by separate commands');
          const ofFiles = (['agent', 'record', 'replay', 'live', 'watch', 'repeat'] as const).find((name) => flags[name] !== undefined);
          if (ofFiles !== undefined) throw new TestUsageError(`--${ofFiles} is for tests of files, not for those of the cluster`);
          io.exit((await testAgents(paths, flags, io)) ? 0 : 1);
          return;
        }
        const command = new TestCommand({ paths, agents, tests, junit, format: formatOf(flags), mode, concurrency, repeat }, io);
        if (flags.watch) return (await import('../agent-tests/watch.ts')).watchTests(command, paths, io);
        const { workspace, pairs } = await command.load();
        try {
          io.exit(exitCodeOf(await command.run(workspace, pairs)));
        } catch (error) {
          if (!io.signal.aborted) throw error;
          io.exit(INTERRUPTED);
        }
      }).finally(endOfProcess);
    });
}
