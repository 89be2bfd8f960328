import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('print every variable with its value, default and meaning, secrets masked; exit code 1 for an invalid value')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley config', "parley config -o json | jq '.[] | select(.problem)'"))
    .action(async (options: OutputFlags) => {
      const { describeConfig } = await import('../configuration.ts');
      const variables = describeConfig(process.env);
      if (wantsData(options)) {
        await printData(options, variables);
      } else {
        for (const { name, value, source, description, problem, default: fallback } of variables) {
          process.stdout.write(
            `${name}=${value ?? ''}${source === 'default' ? '  (default)' : source === 'unset' ? '  (not set)' : ''}\n    ${description}\n`,
          );
          if (source === 'environment' && fallback !== null) process.stdout.write(`    default: ${fallback}\n`);
          if (problem !== undefined) process.stdout.write(`  ✗ ${problem}\n`);
        }
      }
      const bad = variables.filter(({ problem }) => problem !== undefined).length;
      if (bad > 0) {
        process.stderr.write(`parley: ${bad} ${bad === 1 ? 'variable has an invalid value' : 'variables have invalid values'}\n`);
        process.exitCode = 1;
      }
    });
}
