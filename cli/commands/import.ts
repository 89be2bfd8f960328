import type { Command } from 'commander';

export function registerImport(program: Command): void {
  program
    .command('import')
    .description('apply an export, as kubectl apply --server-side does, and give Secrets and ConfigMaps their owners back')
    .argument('<paths...>', 'files and folders with YAML; - is standard input')
    .option('--org <name>', 'organisation to import into, instead of the one that the files name')
    .option(
      '--field-manager <name>',
      'who owns the fields from then on (default: kubectl, so that kubectl apply --server-side can go on with the same files; in a backup, whoever had them)',
    )
    .option('--force-conflicts', 'take over fields that others own')
    .option('--dry-run', 'let the server check everything, and change nothing')
    .action(
      async (
        paths: readonly string[],
        options: { readonly org?: string; readonly fieldManager?: string; readonly forceConflicts?: true; readonly dryRun?: true },
      ) => {
        const [{ applyImport, planImport }, { withOrganizationObjects }, { readDocuments }] = await Promise.all([
          import('../transfer/import.ts'),
          import('../transfer/cluster.ts'),
          import('../transfer/files.ts'),
        ]);
        const planned = planImport(await readDocuments(paths), options.org);
        const dryRun = options.dryRun === true;
        await withOrganizationObjects((transport) =>
          applyImport(transport, planned, {
            fieldManager: options.fieldManager,
            force: options.forceConflicts === true,
            dryRun,
            onApplied: ({ kind, metadata }) =>
              process.stdout.write(`${kind.toLowerCase()}/${metadata.name} ${dryRun ? 'would be applied' : 'applied'}\n`),
          }),
        );
      },
    );
}
