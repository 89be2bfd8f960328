import { Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import { orgArgument } from '../options.ts';
import type { SecretMode } from '../transfer/portable.ts';

export function registerExport(program: Command): void {
  program
    .command('export')
    .description('write the resources of an organisation, and the Secrets and ConfigMaps that belong to them, as YAML for Git')
    .addArgument(orgArgument())
    .addOption(
      new Option('--secrets <mode>', 'write Secrets with placeholders for their values, with their values in clear, or not at all')
        .choices(['placeholders', 'values', 'none'])
        .default('placeholders'),
    )
    .option('--output-dir <folder>', 'write a file for each object, <kind>/<name>.yaml, instead of standard output')
    .addHelpText('after', examples('parley export acme > acme.yaml', 'parley export acme --output-dir acme --secrets none'))
    .action(async (org: string, options: { readonly secrets: SecretMode; readonly outputDir?: string }) => {
      const [{ exportOrganization }, { withOrganizationObjects }, { stringifyYaml }, { writeFiles }] = await Promise.all([
        import('../transfer/export.ts'),
        import('../transfer/cluster.ts'),
        import('../yaml.ts'),
        import('../transfer/files.ts'),
      ]);
      const { objects, remarks } = await withOrganizationObjects((transport) =>
        exportOrganization(transport, { org, secrets: options.secrets }),
      );
      for (const remark of remarks) process.stderr.write(`parley: ${remark}\n`);
      if (options.secrets === 'values' && objects.some(({ kind }) => kind === 'Secret')) {
        process.stderr.write('parley: the Secrets contain their values: encrypt them before you store or send them\n');
      }
      if (options.outputDir === undefined) {
        process.stdout.write(objects.map((object) => `---\n${stringifyYaml(object, { sorted: true })}`).join(''));
        return;
      }
      const files = objects.map((object) => ({
        path: `${object.kind.toLowerCase()}/${object.metadata.name}.yaml`,
        content: stringifyYaml(object, { sorted: true }),
        secret: object.kind === 'Secret',
      }));
      await writeFiles(options.outputDir, files);
      process.stderr.write(`parley: ${files.length} files are in ${options.outputDir}\n`);
    });
}
