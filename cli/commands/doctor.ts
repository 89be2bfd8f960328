import { Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

import type { Audience, Finding } from '../doctor/index.ts';

interface DoctorFlags extends OutputFlags {
  readonly machine?: true;
  readonly role: Audience;
  readonly org?: readonly string[];
}

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check this machine for the local stack or, with KUBECONFIG set, the cluster and the servers of this environment; exit code 1 when a check fails',
    )
    .option('--machine', 'check the machine even with KUBECONFIG set')
    .addOption(
      new Option('--role <role>', 'check that the kubeconfig has the permissions of this role')
        .choices(['installer', 'operator', 'api', 'worker', 'dispatcher', 'voice'] satisfies Audience[])
        .default('installer'),
    )
    .option(
      '-n, --org <namespace...>',
      'check the permissions in these organisations (default: those that the user of the kubeconfig can list)',
    )
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', '\ndocs/operations/troubleshooting.md has a section for each check, named as the field "check" of --json.')
    .addHelpText('after', examples('parley doctor', 'parley doctor --machine', 'parley doctor --role operator --org acme -o json'))
    .action(async (flags: DoctorFlags) => {
      const { describeFinding, runDoctor } = await import('../doctor/index.ts');
      const found: Finding[] = [];
      const { env } = process;
      for await (const finding of runDoctor({
        env,
        audience: flags.role,
        organizations: flags.org,
        ...(flags.machine === true && { machine: true }),
      })) {
        found.push(finding);
        if (!wantsData(flags)) process.stdout.write(describeFinding(finding));
      }
      const failed = found.filter(({ outcome }) => outcome === 'fail').length;
      const warned = found.filter(({ outcome }) => outcome === 'warn').length;
      if (wantsData(flags)) await printData(flags, { ok: failed === 0, findings: found });
      else
        process.stdout.write(
          failed === 0 ? `\nno check failed${warned === 0 ? '' : `, ${warned} to know about`}\n` : `\n${failed} failed\n`,
        );
      process.exitCode = failed === 0 ? 0 : 1;
    });
}
