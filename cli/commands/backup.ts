import type { Command } from 'commander';

import { examples } from '../grammar.ts';

export function registerBackup(program: Command): void {
  program
    .command('backup')
    .description(
      'back up a whole installation into a new folder: Postgres (with pg_dump), the resources of all organisations with their Secrets, the files (KUBECONFIG, DATABASE_URL, STORAGE_URL)',
    )
    .argument('<folder>', 'folder to create; do not share it: it contains Secrets in clear')
    .option('-n, --org <names...>', 'back up the resources of these organisations only: for a cluster that other installations share')
    .option('--no-files', 'skip the files: for a bucket with its own backup')
    .addHelpText('after', examples('parley backup backups/2026-11-21', 'parley backup backups/2026-11-21 --no-files'))
    .action(async (folder: string, flags: { readonly files: boolean; readonly org?: readonly string[] }) => {
      const [{ makeBackup }, { databaseUrl }, { withProgress }, { loadConfig }, { version }] = await Promise.all([
        import('../backup/make-backup.ts'),
        import('../database.ts'),
        import('../with-progress.ts'),
        import('../../platform/config/config.ts'),
        import('../../platform/version.ts'),
      ]);
      const { env } = process;
      const config = loadConfig(env);
      const { createdAt } = await withProgress((progress, signal) =>
        makeBackup({
          folder,
          databaseUrl: databaseUrl(),
          storageUrl: flags.files ? config.STORAGE_URL : undefined,
          organizations: flags.org ?? (config.PARLEY_NAMESPACE === undefined ? undefined : [config.PARLEY_NAMESPACE]),
          version,
          env,
          now: new Date(),
          progress,
          signal,
        }),
      );
      process.stderr.write(`the backup of ${createdAt} is in ${folder}: encrypt it before it goes anywhere\n`);
    });
}
