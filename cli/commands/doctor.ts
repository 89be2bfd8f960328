import { Option, type Command } from 'commander';

import type { Finding } from '../dev/doctor/finding.ts';

interface DoctorFlags {
  readonly machine?: true;
  readonly role: 'installer' | 'operator' | 'api' | 'dispatcher';
  readonly json?: true;
}

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check this machine for the local stack, or, where KUBECONFIG is set, a cluster with its Postgres and Temporal; exit code 1 when something has to be mended',
    )
    .option('--machine', 'check the machine even though KUBECONFIG is set')
    .addOption(
      new Option('--role <role>', 'whose permissions the kubeconfig should have')
        .choices(['installer', 'operator', 'api', 'dispatcher'])
        .default('installer'),
    )
    .option('--json', 'print JSON')
    .action(async (flags: DoctorFlags) => {
      const { describeFinding } = await import('../dev/doctor/finding.ts');
      const found: Finding[] = [];
      for await (const finding of checks(flags)) {
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

async function* checks(flags: DoctorFlags): AsyncGenerator<Finding> {
  const { env } = process;
  if (flags.machine === true || env['KUBECONFIG'] === undefined || env['KUBECONFIG'] === '') {
    const { checkMachine } = await import('../dev/doctor/machine.ts');
    yield* checkMachine({ env, folder: process.cwd() });
    return;
  }
  const [{ checkCluster }, { checkPostgres, checkTemporal }, { loadConfig }] = await Promise.all([
    import('../dev/doctor/cluster.ts'),
    import('../dev/doctor/services.ts'),
    import('../../platform/config.ts'),
  ]);
  const config = loadConfig(env);
  yield* checkCluster({ audience: flags.role });
  yield* checkPostgres(config.DATABASE_URL);
  yield await checkTemporal(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE);
}
