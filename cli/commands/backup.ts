import type { Command } from 'commander';

export function registerBackup(program: Command): void {
  program
    .command('backup')
    .description(
      'write a whole installation into a new folder: Postgres (with pg_dump), the resources of all organisations with their Secrets, the files (KUBECONFIG, DATABASE_URL, STORAGE_URL)',
    )
    .argument('<folder>', 'is made; not to be shared, for it holds Secrets in clear')
    .option('--org <names...>', 'the resources of these organisations alone, where others in the cluster belong to another installation')
    .option('--no-files', 'leave the files out: the bucket has a backup of its own')
    .action(async (folder: string, flags: { readonly files: boolean; readonly org?: readonly string[] }) => {
      const [{ makeBackup }, { databaseUrl }, { loadConfig }, { version }] = await Promise.all([
        import('../backup/make-backup.ts'),
        import('../database.ts'),
        import('../../platform/config/config.ts'),
        import('../version.ts'),
      ]);
      const { env } = process;
      const config = loadConfig(env);
      const { createdAt } = await makeBackup({
        folder,
        databaseUrl: databaseUrl(),
        storageUrl: flags.files ? config.STORAGE_URL : undefined,
        organizations: flags.org ?? (config.PARLEY_NAMESPACE === undefined ? undefined : [config.PARLEY_NAMESPACE]),
        version,
        env,
        now: new Date(),
        onProgress: (line) => process.stderr.write(`${line}\n`),
      });
      process.stderr.write(`the backup of ${createdAt} is in ${folder}: encrypt it before it goes anywhere\n`);
    });
}
