import type { Command } from 'commander';

export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('print every variable with its value, default and meaning, secrets masked; exit code 1 for an invalid value')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: true }) => {
      const [{ describeConfig }, { printJson }] = await Promise.all([import('../configuration.ts'), import('../table.ts')]);
      const variables = describeConfig(process.env);
      if (options.json === true) {
        printJson(variables);
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
