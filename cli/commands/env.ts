import type { Command } from 'commander';

export function registerEnv(program: Command): void {
  program
    .command('env')
    .description('print the variables of the running local stack for a shell: eval "$(parley env)"')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: true }) => {
      const [{ readEnvFile, shellExports }, { findLayout }, { runningSupervisor }, { UserError }] = await Promise.all([
        import('../../local-stack/env-file.ts'),
        import('../../local-stack/layout.ts'),
        import('../../local-stack/supervisor-lock.ts'),
        import('../../platform/user-error.ts'),
      ]);
      const layout = findLayout(process.cwd());
      // After a power cut the file exists without a running stack.
      const runs = layout !== undefined && (await runningSupervisor(layout.supervisorPid)) !== undefined;
      const env = runs ? readEnvFile(layout.envFile) : undefined;
      if (env === undefined) {
        throw new UserError(`no stack is ready in ${process.cwd()} or a folder above it`, {
          cure: 'start one with `parley dev` (or `make up`), or go to the folder where it runs; `parley dev status` shows its progress',
        });
      }
      process.stdout.write(options.json === true ? `${JSON.stringify(env, null, 2)}\n` : shellExports(env));
    });
}
