import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { orgOption } from '../options.ts';
import { jsonOption, outputOption, type OutputFlags } from '../output.ts';

export function registerExplain(program: Command): void {
  program
    .command('explain')
    .description("explain why an object isn't ready, and what to do; exit code 0 when it is ready")
    .argument('<object>', 'kind and name, as in agent/receptionist; short names too: pagent, ptool, pphone, pkb, pwebhook, ptest')
    .addOption(orgOption('organisation of the object; default: PARLEY_ORG, then the namespace of the kubeconfig'))
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley explain agent/receptionist', 'parley explain kbase/manuals --org acme -o json'))
    .action(async (object: string, options: { readonly org?: string } & OutputFlags) => {
      const [{ runExplain }, { processIo }] = await Promise.all([import('../kubectl/explain/index.ts'), import('../kubectl/io.ts')]);
      await runExplain({ object, ...options }, processIo(new AbortController().signal));
    });
}
