import { Option, type Command } from 'commander';

import type { Audience, Finding } from '../doctor/index.ts';

interface DoctorFlags {
  readonly machine?: true;
  readonly role: Audience;
  readonly org?: readonly string[];
  readonly json?: true;
}

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check this machine for the local stack, or, where KUBECONFIG is set, a cluster and the servers that this environment names; exit code 1 when something has to be mended',
    )
    .option('--machine', 'check the machine even though KUBECONFIG is set')
    .addOption(
      new Option('--role <role>', 'whose permissions the kubeconfig should have')
        .choices(['installer', 'operator', 'api', 'worker', 'dispatcher', 'voice'] satisfies Audience[])
        .default('installer'),
    )
    .option('--org <namespace...>', "organisations to look at a role's permissions in (default: those that the kubeconfig's user can list)")
    .option('--json', 'print JSON')
    .addHelpText('after', '\ndocs/operations/troubleshooting.md has a section for each check, by the name that --json calls "check".')
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
        if (flags.json !== true) process.stdout.write(describeFinding(finding));
      }
      const failed = found.filter(({ outcome }) => outcome === 'fail').length;
      const warned = found.filter(({ outcome }) => outcome === 'warn').length;
      if (flags.json === true) process.stdout.write(`${JSON.stringify({ ok: failed === 0, findings: found }, null, 2)}\n`);
      else
        process.stdout.write(
          failed === 0 ? `\nnothing has to be mended${warned === 0 ? '' : `, ${warned} to know about`}\n` : `\n${failed} to be mended\n`,
        );
      process.exitCode = failed === 0 ? 0 : 1;
    });
}
