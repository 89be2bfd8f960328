import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description('migrate the database to the schema of this version; safe to repeat')
    .option('--status', 'only show which migrations are applied and which are missing')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley migrate', 'parley migrate --status -o json'))
    .action(async (options: { readonly status?: true } & OutputFlags) => {
      const [{ databaseUrl, explainStore }, { migrate, migrationStatus }, { table }] = await Promise.all([
        import('../database.ts'),
        import('../../store/index.ts'),
        import('../table.ts'),
      ]);
      const url = databaseUrl();
      if (options.status === true) {
        const { applied, pending } = await explainStore(url, () => migrationStatus({ databaseUrl: url }));
        if (wantsData(options)) {
          await printData(options, {
            applied: applied.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt.toISOString() })),
            pending,
          });
          return;
        }
        process.stdout.write(
          table(
            ['MIGRATION', 'APPLIED'],
            [...applied.map(({ name, appliedAt }) => [name, appliedAt.toISOString()]), ...pending.map((name) => [name, 'no'])],
          ),
        );
        if (pending.length > 0) process.stdout.write(`${pending.length} to apply: parley migrate\n`);
        return;
      }
      const { applied } = await explainStore(url, () => migrate({ databaseUrl: url }));
      if (wantsData(options)) {
        await printData(options, { applied });
        return;
      }
      for (const name of applied) process.stdout.write(`applied ${name}\n`);
      process.stdout.write(
        applied.length === 0
          ? 'the database is up to date\n'
          : `the database is up to date after ${applied.length} migration${applied.length === 1 ? '' : 's'}\n`,
      );
    });
}
