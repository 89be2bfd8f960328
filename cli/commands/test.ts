import { Command, Option } from 'commander';

import { interruptible, INTERRUPTED } from '../interruptible.ts';
import { wholeNumber } from '../options.ts';
import { formatOf, outputOption } from '../output.ts';
import { withPresetOrganization } from '../kubectl/connection.ts';
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

const FOR_FILES: ReadonlySet<string> = new Set<keyof TestFlags>(['agent', 'record', 'replay', 'live', 'watch', 'concurrency', 'repeat']);
const FOR_CLUSTER: ReadonlySet<string> = new Set(addClusterTestFlags(new Command()).options.map((option) => option.attributeName()));

export function registerTest(program: Command): void {
  const several = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];
  addClusterTestFlags(program.command('test'), { presetOrganization: true })
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
    .option('--repeat <number>', 'attempts of each test, all of which have to pass, in place of what the test says', wholeNumber(1, 100))
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], flags: TestFlags, command: Command) => {
      const { exitCodeOf, TestCommand, TestUsageError } = await import('../agent-tests/run-command.ts');
      const mode = flags.record ? 'record' : flags.replay ? 'replay' : flags.live ? 'live' : 'auto';
      const { agent: agents = [], test: names = [], junit, concurrency, repeat } = flags;
      await interruptible(
        async (io) => {
          if (paths.some(isAgentOfCluster)) {
            if (!paths.every(isAgentOfCluster)) throw new TestUsageError('files and agents of the cluster are tested by separate commands');
            const ofFiles = givenOf(command, FOR_FILES);
            if (ofFiles !== undefined) throw new TestUsageError(`${ofFiles} is for tests of files, not for those of the cluster`);
            io.exit((await testAgents(paths, withPresetOrganization(flags, io.env), io)) ? 0 : 1);
            return;
          }
          const ofCluster = givenOf(command, FOR_CLUSTER);
          if (ofCluster !== undefined) throw new TestUsageError(`${ofCluster} is for agents of the cluster (agent/<name>), not for files`);
          const tests = new TestCommand({ paths, agents, tests: names, junit, format: formatOf(flags), mode, concurrency, repeat }, io);
          if (flags.watch) return (await import('../agent-tests/watch.ts')).watchTests(tests, paths, io);
          const { workspace, pairs } = await tests.load();
          try {
            io.exit(exitCodeOf(await tests.run(workspace, pairs)));
          } catch (error) {
            if (!io.signal.aborted) throw error;
            io.exit(INTERRUPTED);
          }
        },
        { whileRead: flags.watch === true },
      );
    });
}

/** Returns the first of these options that the command line has, as it is typed. */
function givenOf(command: Command, isOne: ReadonlySet<string>): string | undefined {
  const given = command.options.find((option) => {
    const name = option.attributeName();
    return isOne.has(name) && command.getOptionValueSource(name) === 'cli';
  });
  return given?.long;
}
