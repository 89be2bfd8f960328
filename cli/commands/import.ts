import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { orgOption } from '../options.ts';
import { addOutput, printData, wantsData, type OutputFlags } from '../output.ts';

export function registerImport(program: Command): void {
  addOutput(program.command('import'), 'the objects that were applied')
    .description('apply an export, as kubectl apply --server-side does, and restore the owners of Secrets and ConfigMaps')
    .argument('<paths...>', 'files and folders with YAML; - is standard input')
    .addOption(orgOption('import into this organisation instead of the one that the files name'))
    .option(
      '--field-manager <name>',
      'owner of the applied fields (default: the owner that a file names, else kubectl, so that kubectl apply --server-side works with the same files)',
    )
    .option('--force-conflicts', 'take over fields that other managers own')
    .option('--dry-run', 'let the server validate everything without changing it')
    .addHelpText('after', examples('parley import acme.yaml --dry-run', 'parley import acme --org globex'))
    .action(
      async (
        paths: readonly string[],
        options: {
          readonly org?: string;
          readonly fieldManager?: string;
          readonly forceConflicts?: true;
          readonly dryRun?: true;
        } & OutputFlags,
      ) => {
        const [{ applyImport, planImport }, { withOrganizationObjects }, { readDocuments }, { UserError }] = await Promise.all([
          import('../transfer/import.ts'),
          import('../transfer/cluster.ts'),
          import('../transfer/files.ts'),
          import('../../platform/user-error.ts'),
        ]);
        const planned = planImport(await readDocuments(paths), options.org);
        // A failed export leaves an empty file behind: to apply nothing would look like a success.
        if (planned.length === 0)
          throw new UserError(`there is no object in ${paths.join(', ')}`, { cure: 'write one with `parley export`' });
        const dryRun = options.dryRun === true;
        const applied: { readonly kind: string; readonly name: string; readonly namespace: string | undefined }[] = [];
        try {
          await withOrganizationObjects((transport) =>
            applyImport(transport, planned, {
              fieldManager: options.fieldManager,
              force: options.forceConflicts === true,
              dryRun,
              onApplied: ({ kind, metadata: { name, namespace } }) => {
                applied.push({ kind, name, namespace });
                if (!wantsData(options)) process.stdout.write(`${kind.toLowerCase()}/${name} ${dryRun ? 'would be applied' : 'applied'}\n`);
              },
            }),
          );
        } finally {
          // The result names also the objects that were applied beside a refused one.
          if (wantsData(options)) await printData(options, { dry_run: dryRun, applied });
        }
      },
    );
}
