import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

export function registerEnv(program: Command): void {
  program
    .command('env')
    .description('print the variables of the running local stack for a shell: eval "$(parley env)"')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('eval "$(parley env)"', 'parley env -o json'))
    .action(async (options: OutputFlags) => {
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
      if (wantsData(options)) await printData(options, env);
      else process.stdout.write(shellExports(env));
    });
}
