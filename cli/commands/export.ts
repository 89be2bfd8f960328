import { Option, type Command } from 'commander';

import type { SecretMode } from '../transfer/portable.ts';

export function registerExport(program: Command): void {
  program
    .command('export')
    .description(
      'write everything an organisation has as YAML ready for Git: its resources, and the Secrets and ConfigMaps that belong to them',
    )
    .argument('<org>', 'organisation')
    .addOption(
      new Option('--secrets <mode>', 'Secrets: with a mark in the place of each value, with their values in clear, or not at all')
        .choices(['placeholders', 'values', 'none'])
        .default('placeholders'),
    )
    .option('--output-dir <folder>', 'a file for each object, <kind>/<name>.yaml, instead of standard output')
    .action(async (org: string, options: { readonly secrets: SecretMode; readonly outputDir?: string }) => {
      const [{ exportOrganization }, { withOrganizationObjects }, { toYaml }, { writeFiles }] = await Promise.all([
        import('../transfer/export.ts'),
        import('../transfer/cluster.ts'),
        import('../transfer/yaml-text.ts'),
        import('../transfer/files.ts'),
      ]);
      const { objects, remarks } = await withOrganizationObjects((transport) =>
        exportOrganization(transport, { org, secrets: options.secrets }),
      );
      for (const remark of remarks) process.stderr.write(`parley: ${remark}\n`);
      if (options.secrets === 'values' && objects.some(({ kind }) => kind === 'Secret')) {
        process.stderr.write('parley: the Secrets are written with their values: encrypt them before they go anywhere\n');
      }
      if (options.outputDir === undefined) {
        process.stdout.write(objects.map((object) => `---\n${toYaml(object)}`).join(''));
        return;
      }
      const files = objects.map((object) => ({
        path: `${object.kind.toLowerCase()}/${object.metadata.name}.yaml`,
        content: toYaml(object),
        secret: object.kind === 'Secret',
      }));
      await writeFiles(options.outputDir, files);
      process.stderr.write(`parley: ${files.length} files are in ${options.outputDir}\n`);
    });
}
