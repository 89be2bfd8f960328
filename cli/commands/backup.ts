import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { organizationNames } from '../options.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../output.ts';

export function registerBackup(program: Command): void {
  addOutput(program.command('backup'), 'what the backup has')
    .description(
      'back up an installation, or some organisations of it, into a new folder: Postgres, resources with their Secrets, files (KUBECONFIG, DATABASE_URL, STORAGE_URL)',
    )
    .argument('<folder>', 'folder to create; do not share it: it contains Secrets in clear')
    .option('-n, --org <names...>', 'back up these organisations only: their rows, resources and files', organizationNames)
    .option('--no-files', 'skip the files: for a bucket with its own backup')
    .addHelpText('after', examples('parley backup backups/2026-11-21', 'parley backup backups/acme --org acme'))
    .action(async (folder: string, flags: { readonly files: boolean; readonly org?: readonly string[] } & OutputFlags) => {
      const [{ makeBackup }, { databaseUrl }, { withProgress }, { loadConfig }, { version }] = await Promise.all([
        import('../backup/make-backup.ts'),
        import('../database.ts'),
        import('../with-progress.ts'),
        import('../../platform/config/config.ts'),
        import('../../platform/version.ts'),
      ]);
      const { env } = process;
      const config = loadConfig(env);
      const { createdAt, organizations, database, resources, files } = await withProgress((progress, signal) =>
        makeBackup({
          folder,
          databaseUrl: databaseUrl(),
          storageUrl: flags.files ? config.STORAGE_URL : undefined,
          organizations: flags.org,
          namespace: config.PARLEY_NAMESPACE,
          version,
          env,
          now: new Date(),
          progress,
          signal,
        }),
      );
      const value = {
        folder,
        created_at: createdAt,
        organizations,
        tables: database.tables.length,
        objects: resources.length,
        files: files?.count ?? null,
      };
      await writeAs({ out: process.stdout }, formatOf(flags), value, () => '');
      process.stderr.write(`the backup of ${createdAt} is in ${folder}: encrypt it before it goes anywhere\n`);
    });
}
